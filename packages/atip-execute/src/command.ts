import type { AtipArgument, AtipCommand, AtipEffects, AtipOption, AtipTool } from '@delta/atip'
import { commandLine, indexLeaves, longFlag } from '@delta/atip/internal'

/** What joins the words of a flat tool name. */
export const DEFAULT_SEPARATOR = '_'

/** What a flat tool name stands for. */
export interface CommandMapping {
  /** The words the command line begins with: `['gh', 'pr', 'create']`. */
  command: string[]
  /** The command's own node of the metadata, with the global options of its tool. */
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

/**
 * Finds the command a flat name stands for. Names are looked up, never taken apart, so underscores
 * in them mean nothing. For many calls use `createExecutor`, which builds the map once.
 *
 * @returns undefined when no command has this name.
 * @throws {AtipValidationError} A tool is invalid, or one name stands for two commands.
 * @example
 * mapToCommand('gh_pr_list', [gh])?.command // ['gh', 'pr', 'list']
 */
export function mapToCommand(
  toolName: string,
  tools: readonly AtipTool[],
  options: MapOptions = {},
): CommandMapping | undefined {
  return mapCommands(tools, options).get(toolName)
}

/** Every command of the tools by its flat name. If a command is described twice, the first description counts. */
export function mapCommands(
  tools: readonly AtipTool[],
  { separator = DEFAULT_SEPARATOR }: MapOptions = {},
): ReadonlyMap<string, CommandMapping> {
  const leaves = [...indexLeaves(tools, 'first', separator)]
  return new Map(
    leaves.map(([name, leaf]) => {
      const { command, tool, path, effects, options } = leaf
      const metadata = options.length === (command.options?.length ?? 0) ? command : { ...command, options }
      return [name, { command: commandLine(leaf), metadata, tool, path, effects }]
    }),
  )
}

/**
 * The full command line of a call: positional arguments in the order of the metadata, then options.
 *
 * A value never becomes a flag: if a positional begins with `-`, options come first and `--` ends
 * them; an option's value that begins with `-` is glued to its flag (`--title=-x`).
 *
 * @param args - Checked arguments. `false`, `null` and undefined write nothing, a list repeats.
 * @example
 * buildCommandArray(mapping, { branch: 'main', draft: true }) // ['gh', 'pr', 'create', 'main', '--draft']
 */
export function buildCommandArray(mapping: CommandMapping, args: Record<string, unknown>): string[] {
  const { command, metadata } = mapping
  const positionals = (metadata.arguments ?? []).flatMap((argument) => words(argumentOf(args, argument)))
  const options = (metadata.options ?? []).flatMap((option) => optionWords(option, argumentOf(args, option)))
  return positionals.some((word) => word.startsWith('-'))
    ? [...command, ...options, '--', ...positionals]
    : [...command, ...positionals, ...options]
}

/** The argument of a call for a parameter, which may be called `constructor`. */
export function argumentOf(args: Record<string, unknown>, { name }: AtipArgument | AtipOption): unknown {
  return Object.hasOwn(args, name) ? args[name] : undefined
}

function words(value: unknown): string[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value.flatMap(words) : [String(value)]
}

function optionWords(option: AtipOption, value: unknown): string[] {
  const flag = longFlag(option)
  if (value === true) return [flag]
  if (value === false) return []
  return words(value).flatMap((word) => (word.startsWith('-') ? [glue(flag, word)] : [flag, word]))
}

/** `--flag=value`; a short flag takes its value without a sign in between. */
function glue(flag: string, word: string): string {
  return flag.startsWith('--') ? `${flag}=${word}` : `${flag}${word}`
}
