import { mergeEffects, overlayEffects } from './effects.js'
import { AtipValidationError } from './errors.js'
import {
  type AtipCommand,
  type AtipEffects,
  type AtipOption,
  type AtipTool,
  commandSchema,
} from './metadata.js'
import { flatName } from './names.js'
import { assertNode, assertTool } from './validate.js'

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
  options: AtipOption[]
  /** Its own effects, what its groups add, and the tool's, merged cautiously. */
  effects: AtipEffects
  tool: AtipTool
}

/**
 * Lists the callable commands of a tool, depth first, in the order of the metadata.
 *
 * @throws {AtipValidationError} The metadata is invalid, or two commands have one flat name:
 *   a call could then not say which of them it means.
 */
export function leavesOf(tool: AtipTool, separator = '_'): AtipLeaf[] {
  assertTool(tool)
  const leaves = new Map<string, AtipLeaf>()
  walk(tool.commands, [], {}, (path, command, inherited) => {
    const leaf = makeLeaf(tool, path, command, inherited, separator)
    const rival = leaves.get(leaf.name)
    if (rival) throw collision(leaf, rival)
    leaves.set(leaf.name, leaf)
  })
  return [...leaves.values()]
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
    `${leaf.tool.name}: ${first} and ${second} would both be called "${leaf.name}". Import one of them, or give one a prefix.`,
    pathOf(leaf),
    leaf.name,
  )
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

function withGlobal(
  { arguments: own = [], options = [] }: AtipCommand,
  global: AtipOption[] = [],
): AtipOption[] {
  if (global.length === 0) return options
  const known = new Set([...own, ...options].map((parameter) => parameter.name))
  return [...options, ...global.filter((option) => !known.has(option.name))]
}

function assertDistinctParameters(leaf: AtipLeaf): void {
  const seen = new Set<string>()
  for (const { name } of [...(leaf.command.arguments ?? []), ...leaf.options]) {
    if (seen.has(name)) {
      const line = commandLine(leaf).join(' ')
      throw new AtipValidationError(`"${line}" has two parameters named "${name}".`, pathOf(leaf), name)
    }
    seen.add(name)
  }
}

type Visit = (path: string[], command: AtipCommand, inherited: AtipEffects) => void

function walk(commands: unknown, path: string[], inherited: AtipEffects, visit: Visit): void {
  for (const [key, node] of Object.entries(commandMap(commands, path))) {
    const here = [...path, key]
    const command: AtipCommand = assertNode(commandSchema, node, () => pathOf({ path: here }))
    if (command.commands === undefined || Object.keys(commandMap(command.commands, here)).length === 0) {
      visit(here, command, inherited)
    } else {
      walk(command.commands, here, overlayEffects(inherited, command.effects), visit)
    }
  }
}

function commandMap(commands: unknown, path: string[]): Record<string, unknown> {
  if (commands === undefined) return {}
  if (path.length > MAX_DEPTH) {
    const where = [...pathOf({ path }), 'commands']
    throw new AtipValidationError(
      `${where.join('.')}: commands nest deeper than ${MAX_DEPTH} levels.`,
      where,
      commands,
    )
  }
  if (typeof commands !== 'object' || commands === null || Array.isArray(commands)) {
    const where = [...pathOf({ path }), 'commands']
    throw new AtipValidationError(
      `${where.join('.')} must be an object from names to commands.`,
      where,
      commands,
    )
  }
  return commands as Record<string, unknown>
}

/** The members of the metadata that lead to a command. */
export function pathOf({ path }: Pick<AtipLeaf, 'path'>): string[] {
  return path.flatMap((key) => ['commands', key])
}
