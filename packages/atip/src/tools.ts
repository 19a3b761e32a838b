import type { ExpandedParameter, ExpandedTool } from '@delta/tool-expander'
import { TRUST_LEVELS } from '@delta/tool-expander/internal'
import { trustOf } from './effects.js'
import { AtipValidationError } from './errors.js'
import {
  type AtipLeaf,
  assertDistinctNames,
  commandLine,
  everyLeaf,
  firstDuplicate,
  flatName,
} from './leaves.js'
import type { AtipArgument, AtipEffects, AtipOption, AtipTool, TrustSource } from './metadata.js'
import { isRepeated, isRequired, longFlag, valueType } from './parameters.js'
import { describe } from './safety.js'
import { membersTo } from './schema.js'

/**
 * A command as a tool in the full form, with its settings for the executor: exactly what an
 * agent's YAML may hold, so `defineTool` of `@delta/executor` accepts it as it is.
 */
export interface AtipExpandedTool extends ExpandedTool {
  /** The command's own, its groups' and its program's, merged cautiously. */
  effects: AtipEffects
  /** What the metadata claims, but no more than the importer granted. */
  trust: TrustSource
  /** `duration.timeout` of the metadata in milliseconds; absent when that is not a duration. */
  timeout_ms?: number
}

/** Which commands become tools, under which names, and how much they are trusted. */
export interface ImportOptions {
  /** Commands or groups to import, as words: `['pr', 'issue list']`. Default: all. */
  commands?: readonly string[] | undefined
  /** Replaces the tool's own name in the names of the tools. */
  prefix?: string | undefined
  /** How much the importer trusts the metadata; it counts as no more than this. Default `inferred`. */
  trust?: TrustSource | undefined
}

/**
 * The commands of a self-describing program as expanded tools.
 *
 * @throws {AtipValidationError} The metadata is invalid, a command in `commands` does not exist, or
 *   two tools would have one name.
 * @example
 * const tools = atipToTools(gh, { commands: ['pr', 'issue list'], trust: 'org' }).map(defineTool)
 */
export function atipToTools(tool: AtipTool, options: ImportOptions = {}): AtipExpandedTool[] {
  const all = everyLeaf(tool)
  const { commands, prefix = tool.name, trust = 'inferred' } = options
  const leaves = assertDistinctNames(selectLeaves(all, commands))
  return leaves.map((leaf) => ({
    name: flatName([prefix, ...leaf.path]),
    description: describe(leaf),
    command: commandLine(leaf),
    parameters: toParameters(leaf),
    effects: leaf.effects,
    trust: lowerTrust(trustOf(tool), trust),
    ...timeoutOf(leaf),
  }))
}

function selectLeaves(leaves: AtipLeaf[], commands: readonly string[] | undefined): AtipLeaf[] {
  if (commands === undefined) return leaves
  const chosen = new Set<AtipLeaf>()
  for (const command of commands) {
    const found = leaves.filter((leaf) => isWithin(leaf, command))
    if (found.length === 0) throw unknownCommand(leaves, command)
    for (const leaf of found) chosen.add(leaf)
  }
  return leaves.filter((leaf) => chosen.has(leaf))
}

/** True for the command itself and for everything in the group of that name. */
function isWithin(leaf: AtipLeaf, command: string): boolean {
  const path = leaf.path.join(' ')
  return path === command || path.startsWith(`${command} `)
}

function unknownCommand(leaves: AtipLeaf[], command: string): AtipValidationError {
  const known = leaves.map((leaf) => `"${leaf.path.join(' ')}"`)
  const shown = known.length > 20 ? [...known.slice(0, 20), `and ${known.length - 20} more`] : known
  return new AtipValidationError(
    `There is no command "${command}". There are ${shown.join(', ')}.`,
    ['commands'],
    command,
  )
}

function toParameters(leaf: AtipLeaf): ExpandedParameter[] {
  const positional = (leaf.command.arguments ?? []).map((argument, position) => ({
    ...toParameter(argument),
    inject_as: 'argument' as const,
    position,
  }))
  const flagged = leaf.options.map((option) => ({
    ...toParameter(option),
    inject_as: 'option' as const,
    option_name: longFlag(option),
  }))
  return distinct(leaf, [...positional, ...flagged])
}

function toParameter(parameter: AtipArgument | AtipOption): Omit<ExpandedParameter, 'inject_as'> {
  const description = [parameter.description, defaultNote(parameter)].filter(Boolean).join(' ')
  return {
    name: variableName(parameter.name),
    type: isRepeated(parameter) ? 'array' : valueType(parameter),
    ...(description !== '' && { description }),
    required: isRequired(parameter),
    ...(parameter.enum && { enum: [...parameter.enum] }),
    // The author of the command is a stranger: no value may become a flag of it.
    allow_dash: parameter.enum !== undefined,
  }
}

/** The program applies its own default. The model reads it; it is never passed. */
function defaultNote(parameter: AtipArgument | AtipOption): string {
  return parameter.default === undefined ? '' : `(default: ${JSON.stringify(parameter.default)})`
}

/** Parameters of our tools are identifiers; `dry-run` becomes `dry_run`. */
function variableName(name: string): string {
  const safe = name.replace(/[^A-Za-z0-9_]/g, '_')
  return /^\d/.test(safe) ? `_${safe}` : safe
}

function distinct(leaf: AtipLeaf, parameters: ExpandedParameter[]): ExpandedParameter[] {
  const twice = firstDuplicate(parameters)
  if (twice === undefined) return parameters
  const line = commandLine(leaf).join(' ')
  throw new AtipValidationError(
    `"${line}" has two parameters that both become "${twice}".`,
    membersTo(leaf.path),
    twice,
  )
}

/** The trust metadata gets when an importer vouches for `granted`: never more than either says. */
function lowerTrust(claimed: TrustSource, granted: TrustSource): TrustSource {
  return TRUST_LEVELS.indexOf(claimed) <= TRUST_LEVELS.indexOf(granted) ? claimed : granted
}

function timeoutOf({ effects }: AtipLeaf): { timeout_ms?: number } {
  const timeoutMs = durationMs(effects.duration?.timeout)
  return timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }
}

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** The longest that a timer can wait: 24 days. */
const LONGEST_MS = 2_147_483_647

/**
 * `"60s"`, `"1.5m"` or `"200ms"` in milliseconds; undefined for anything else. Also for 0: where a limit of 0 means "no
 * limit", metadata must not be able to lift it.
 */
export function durationMs(text = ''): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)\s?(ms|s|m|h)$/.exec(text) ?? []
  const factor = UNITS[unit]
  if (digits === undefined || factor === undefined) return undefined
  return Math.min(Math.round(Number(digits) * factor), LONGEST_MS) || undefined
}
