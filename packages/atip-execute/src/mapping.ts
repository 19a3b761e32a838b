import {
  type AtipCommand,
  type AtipEffects,
  type AtipLeaf,
  type AtipTool,
  commandLine,
  indexLeaves,
} from '@delta/atip'
import { DEFAULT_SEPARATOR } from './constants.js'

/** What a flat tool name stands for. */
export interface CommandMapping {
  /** The words the command line begins with: `['gh', 'pr', 'create']`. */
  command: string[]
  /** The command's own node of the metadata. */
  metadata: AtipCommand
  /** The tool it belongs to. */
  tool: AtipTool
  /** The keys that lead to the command. */
  path: string[]
  /** The command's effects, merged with those of its groups and its tool. */
  effects: AtipEffects
}

/** How flat names are written. */
export interface MapOptions {
  /** What joins their words. Default `_`. */
  separator?: string | undefined
}

export type Mappings = ReadonlyMap<string, CommandMapping>

/**
 * Finds the command a flat name stands for. Names are looked up, never taken apart, so underscores
 * in them mean nothing. For many calls use `createExecutor`, which builds the map once.
 *
 * @returns undefined when there is none.
 * @throws {AtipValidationError} A tool is invalid, or one name stands for two commands.
 */
export function mapToCommand(
  toolName: string,
  tools: readonly AtipTool[],
  options: MapOptions = {},
): CommandMapping | undefined {
  const { separator = DEFAULT_SEPARATOR } = Object(options) as MapOptions
  return mapCommands(tools, { separator }).get(toolName)
}

/** Every command of the tools by its flat name. Of a command described twice the first description counts. */
export function mapCommands(
  tools: readonly AtipTool[],
  { separator = DEFAULT_SEPARATOR }: MapOptions = {},
): Mappings {
  const leaves = indexLeaves(tools, 'first', separator)
  return new Map([...leaves].map(([name, leaf]) => [name, toMapping(leaf)]))
}

function toMapping(leaf: AtipLeaf): CommandMapping {
  const { command, tool, path, effects, options } = leaf
  // The options a call may use: the command's own and the tool's global ones.
  const metadata = options.length === (command.options?.length ?? 0) ? command : { ...command, options }
  return { command: commandLine(leaf), metadata, tool, path, effects }
}
