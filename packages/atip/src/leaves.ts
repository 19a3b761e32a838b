import { showValue } from '@delta/settings'
import { mergeEffects, overlayEffects } from './effects.js'
import { AtipValidationError } from './errors.js'
import type { AtipCommand, AtipEffects, AtipOption, AtipTool } from './metadata.js'
import { assertCommand, assertTool, isObject, membersTo } from './schema.js'

/** No command line nests this deep; metadata that does is broken or hostile. */
const MAX_DEPTH = 32

/** The longest tool name a provider accepts. */
const MAX_NAME_LENGTH = 64

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
 *   a tool call could then not say which of them it means.
 * @example
 * leavesOf(gh).map(({ name, path }) => [name, path]) // [['gh_pr_list', ['pr', 'list']], …]
 */
export function leavesOf(tool: AtipTool, separator = '_'): AtipLeaf[] {
  return assertDistinctNames(everyLeaf(tool, separator))
}

/** The same, for callers that choose among the commands before they look whether two have one name. */
export function everyLeaf(tool: AtipTool, separator = '_'): AtipLeaf[] {
  assertTool(tool)
  return leavesBelow(tool.commands, [], {}).map(({ path, command, inherited }) => {
    const options = withGlobal(command, tool.globalOptions)
    const effects = mergeEffects(overlayEffects(inherited, command.effects), tool.effects)
    const leaf = { name: flatName([tool.name, ...path], separator), path, command, options, effects, tool }
    assertDistinctParameters(leaf)
    return leaf
  })
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

/**
 * Every leaf of several tools by its flat name: the one map that tool calls are looked up in.
 *
 * @param keep - Which description of a command stays when two tools of one name describe it.
 * @param separator - What joins the words of a flat name. Default `_`.
 * @throws {AtipValidationError} Two different commands have one flat name.
 */
export function indexLeaves(
  tools: readonly AtipTool[],
  keep: 'first' | 'last',
  separator = '_',
): Map<string, AtipLeaf> {
  const index = new Map<string, AtipLeaf>()
  for (const leaf of tools.flatMap((tool) => everyLeaf(tool, separator))) {
    const rival = index.get(leaf.name)
    if (rival && !isSameCommand(rival, leaf)) throw collision(leaf, rival)
    if (!rival || keep === 'last') index.set(leaf.name, leaf)
  }
  return index
}

function isSameCommand(a: AtipLeaf, b: AtipLeaf): boolean {
  return a.tool.name === b.tool.name && JSON.stringify(a.path) === JSON.stringify(b.path)
}

/** The words that start a leaf's command line: `['gh', 'pr', 'create']`. */
export function commandLine(leaf: Pick<AtipLeaf, 'tool' | 'path'>): string[] {
  const words = leaf.path.flatMap((key) => key.split(' ')).filter((word) => word !== '')
  return [leaf.tool.binary ?? leaf.tool.name, ...words]
}

/**
 * Joins the words of a command into the one name a model calls it by. Providers accept letters,
 * digits, "_" and "-", so other characters become "_"; a name that is too long is cut and ends in
 * a checksum of the whole, so that it stays the same from run to run.
 */
export function flatName(words: readonly string[], separator = '_'): string {
  const name = words.map((word) => word.replace(/[^\w-]/g, '_')).join(separator)
  if (name.length <= MAX_NAME_LENGTH) return name
  const checksum = fnv1a(words.join('\0'))
  return `${name.slice(0, MAX_NAME_LENGTH - checksum.length - 1)}_${checksum}`
}

/** FNV-1a, 32 bits: enough to distinguish names. */
function fnv1a(text: string): string {
  let hash = 0x811c9dc5
  for (const character of text) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0
  }
  return hash.toString(16).padStart(8, '0')
}

function collision(leaf: AtipLeaf, rival: AtipLeaf): AtipValidationError {
  const [first, second] = [rival, leaf].map((one) => `"${commandLine(one).join(' ')}"`)
  const wayOut =
    leaf.tool === rival.tool
      ? 'Choose the commands to import, only one of them among them.'
      : 'Import only one of them, or give one a prefix.'
  return new AtipValidationError(
    `${leaf.tool.name}: ${first} and ${second} would both be called "${leaf.name}". ${wayOut}`,
    membersTo(leaf.path),
    leaf.name,
  )
}

/** A command's options, and those of the tool's global ones that it does not define itself. */
function withGlobal(command: AtipCommand, global: readonly AtipOption[] = []): readonly AtipOption[] {
  const { arguments: positional = [], options = [] } = command
  const own = new Set([...positional, ...options].map(({ name }) => name))
  return [...options, ...global.filter(({ name }) => !own.has(name))]
}

function assertDistinctParameters(leaf: AtipLeaf): void {
  const twice = firstDuplicate([...(leaf.command.arguments ?? []), ...leaf.options])
  if (twice === undefined) return
  const line = commandLine(leaf).join(' ')
  throw new AtipValidationError(`"${line}" has two parameters named "${twice}".`, membersTo(leaf.path), twice)
}

export function firstDuplicate(parameters: readonly { name: string }[]): string | undefined {
  const seen = new Set<string>()
  return parameters.find(({ name }) => seen.size === seen.add(name).size)?.name
}

interface Found {
  path: string[]
  command: AtipCommand
  /** What its groups state, the nearest first. */
  inherited: AtipEffects
}

function leavesBelow(commands: unknown, path: string[], inherited: AtipEffects): Found[] {
  return Object.entries(commandMap(commands, path)).flatMap(([key, command]) => {
    const here = [...path, key]
    assertCommand(command, here)
    const below = leavesBelow(command.commands, here, overlayEffects(inherited, command.effects))
    const isGroup = Object.keys(command.commands ?? {}).length > 0
    return isGroup ? below : [{ path: here, command, inherited }]
  })
}

function commandMap(commands: unknown, path: string[]): Record<string, unknown> {
  if (commands === undefined) return {}
  if (isObject(commands) && path.length <= MAX_DEPTH) return commands
  const where = [...membersTo(path), 'commands']
  const message = isObject(commands)
    ? `Commands nest deeper than ${MAX_DEPTH} levels.`
    : `${where.join('.')}: must be a mapping of names to commands, got ${showValue(commands)}.`
  throw new AtipValidationError(message, where, commands)
}
