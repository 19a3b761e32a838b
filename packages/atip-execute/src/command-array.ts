import { type AtipArgument, type AtipOption, longFlag } from '@delta/atip'
import type { CommandMapping } from './mapping.js'

/**
 * The full command line of a call: positional arguments in the order of the metadata, then options.
 *
 * A value never becomes a flag: if a positional begins with `-`, options come first and `--` ends
 * them; an option's value that begins with `-` is glued to its flag (`--title=-x`).
 *
 * @param args - Checked arguments. `false`, `null` and undefined write nothing, a list repeats.
 */
export function buildCommandArray(mapping: CommandMapping, args: Record<string, unknown>): string[] {
  const { command, metadata } = mapping
  const positionals = (metadata.arguments ?? []).flatMap((argument) => words(argumentOf(args, argument)))
  const options = (metadata.options ?? []).flatMap((option) => optionWords(option, argumentOf(args, option)))
  return positionals.some((word) => word.startsWith('-'))
    ? [...command, ...options, '--', ...positionals]
    : [...command, ...positionals, ...options]
}

function argumentOf(args: Record<string, unknown>, { name }: AtipArgument | AtipOption): unknown {
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
