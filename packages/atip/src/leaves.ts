import { mergeEffects, overlayEffects } from './effects.js'
import { AtipValidationError } from './errors.js'
import { isObject } from './is-object.js'
import type { AtipCommand, AtipEffects, AtipOption, AtipTool } from './metadata.js'
import { flatName } from './names.js'
import { firstTwice, withGlobal } from './parameter-names.js'
import { assertCommand, assertTool, membersTo, shownPath } from './validate.js'

/** No command line nests this deep; metadata that does is broken or hostile. */
const MAX_DEPTH = 32

/** A command that can be called: a node without commands of its own. */
export interface AtipLeaf {
  /** The flat name a model calls it by, `tool_group_command`. */
  name: string
  /** The keys that lead to it, without the tool's name. The key `""` is the bare tool. */
  path: string[]
  command: AtipCommand
  /** Its own options and the tool's global ones that it does not redefine. */
  options: readonly AtipOption[]
  /** Its own effects, what its groups add, and the tool's, merged cautiously. */
  effects: AtipEffects
  tool: AtipTool
}

/**
 * Lists the callable commands of a tool, depth first, in the order of the metadata.
 *
 * @param separator - What joins the words of a flat name. Default `_`.
 * @throws {AtipValidationError} The metadata is invalid, or two commands have one flat name:
 *   a call could then not say which of them it means.
 */
export function leavesOf(tool: AtipTool, separator = '_'): AtipLeaf[] {
  return assertDistinctNames(everyLeaf(tool, separator))
}

/** The same, for callers that choose among the commands before they look whether two have one name. */
export function everyLeaf(tool: AtipTool, separator = '_'): AtipLeaf[] {
  assertTool(tool)
  const leaves: AtipLeaf[] = []
  walk(tool.commands, [], {}, (path, command, inherited) => {
    leaves.push(makeLeaf(tool, path, command, inherited, separator))
  })
  return leaves
}

/** @throws {AtipValidationError} Two of them have one flat name. */
export function assertDistinctNames(leaves: AtipLeaf[]): AtipLeaf[] {
  const known = new Map<string, AtipLeaf>()
  for (const leaf of leaves) {
    const rival = known.get(leaf.name)
    if (rival) throw collision(leaf, rival)
    known.set(leaf.name, leaf)
  }
  return leaves
}

/** The words that start a leaf's command line: `['gh', 'pr', 'create']`. */
export function commandLine(leaf: Pick<AtipLeaf, 'tool' | 'path'>): string[] {
  const words = leaf.path.flatMap((key) => key.split(' ')).filter((word) => word !== '')
  return [leaf.tool.binary ?? leaf.tool.name, ...words]
}

/** One error for every place where a flat name would mean two commands. */
export function collision(leaf: AtipLeaf, rival: AtipLeaf): AtipValidationError {
  const [first, second] = [rival, leaf].map((one) => `"${commandLine(one).join(' ')}"`)
  return new AtipValidationError(
    `${leaf.tool.name}: ${first} and ${second} would both be called "${leaf.name}". ${wayOut(leaf, rival)}`,
    membersTo(leaf.path),
    leaf.name,
  )
}

function wayOut(leaf: AtipLeaf, rival: AtipLeaf): string {
  return leaf.tool === rival.tool
    ? 'Choose the commands to import, only one of them among them.'
    : 'Import only one of them, or give one a prefix.'
}

function makeLeaf(
  tool: AtipTool,
  path: string[],
  command: AtipCommand,
  inherited: AtipEffects,
  separator: string,
): AtipLeaf {
  const leaf: AtipLeaf = {
    name: flatName([tool.name, ...path], separator),
    path,
    command,
    options: withGlobal(command, tool.globalOptions),
    effects: mergeEffects(overlayEffects(inherited, command.effects), tool.effects),
    tool,
  }
  assertDistinctParameters(leaf)
  return leaf
}

function assertDistinctParameters(leaf: AtipLeaf): void {
  const twice = firstTwice(leaf.command.arguments, leaf.options)
  if (twice === undefined) return
  const line = commandLine(leaf).join(' ')
  throw new AtipValidationError(`"${line}" has two parameters named "${twice}".`, membersTo(leaf.path), twice)
}

type Visit = (path: string[], command: AtipCommand, inherited: AtipEffects) => void

function walk(commands: unknown, path: string[], inherited: AtipEffects, visit: Visit): void {
  if (commands === undefined) return
  for (const [key, node] of Object.entries(commandMap(commands, path))) {
    const here = [...path, key]
    assertCommand(node, here)
    if (isGroup(node, here)) walk(node.commands, here, overlayEffects(inherited, node.effects), visit)
    else visit(here, node, inherited)
  }
}

function isGroup({ commands }: AtipCommand, path: string[]): boolean {
  return commands !== undefined && Object.keys(commandMap(commands, path)).length > 0
}

function commandMap(commands: unknown, path: string[]): Record<string, unknown> {
  if (isObject(commands) && path.length <= MAX_DEPTH) return commands
  const where = [...membersTo(path), 'commands']
  const message = isObject(commands)
    ? `: commands nest deeper than ${MAX_DEPTH} levels.`
    : ' must be an object from names to commands.'
  throw new AtipValidationError(shownPath(where) + message, where, commands)
}
