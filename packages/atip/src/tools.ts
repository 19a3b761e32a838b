import type { ExpandedParameter, ExpandedTool } from '@delta/tool-expander'
import { describe } from './description.js'
import { durationMs } from './duration.js'
import { AtipValidationError } from './errors.js'
import { type AtipLeaf, assertDistinctNames, commandLine, everyLeaf } from './leaves.js'
import type { AtipArgument, AtipEffects, AtipOption, AtipTool, TrustSource } from './metadata.js'
import { flatName } from './names.js'
import { isRepeated, isRequired, longFlag, valueType } from './parameters.js'
import { lowerTrust, trustOf } from './trust.js'
import { membersTo } from './validate.js'

/**
 * A command as a tool in the full form, with what the executor wants to know of it: exactly what
 * could stand in an agent's YAML, so `defineTool` of `@delta/executor` takes it as it is.
 */
export interface AtipExpandedTool extends ExpandedTool {
  /** The command's own, its groups' and its program's, merged cautiously. */
  effects: AtipEffects
  /** What the metadata claims, but no more than the importer granted. */
  trust: TrustSource
  /** What the metadata says in `duration.timeout`; absent when that is no duration. */
  timeout_ms?: number
}

/** Which commands become tools, under which names, and how far they are believed. */
export interface ImportOptions {
  /** Commands or groups to take, as words: `['pr', 'issue list']`. Default: all. */
  commands?: readonly string[] | undefined
  /** Stands in the tools' names where the tool's own name would. */
  prefix?: string | undefined
  /** How far the importer vouches for the metadata; it counts as no more than this. Default `inferred`. */
  trust?: TrustSource | undefined
}

/**
 * The commands of a self-describing program as expanded tools.
 *
 * @throws {AtipValidationError} The metadata is invalid, a command in `commands` does not exist, or
 *   two tools would have one name.
 */
export function atipToTools(tool: AtipTool, options: ImportOptions = {}): AtipExpandedTool[] {
  const all = everyLeaf(tool)
  const { commands, prefix = tool.name, trust = 'inferred' } = options
  const leaves = assertDistinctNames(selectLeaves(all, commands))
  return leaves.map((leaf) => ({
    name: flatName([prefix, ...leaf.path]),
    description: describe(leaf.command.description, leaf.effects),
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
    // The command is not of our making: no value may turn into a flag of it.
    allow_dash: parameter.enum !== undefined,
  }
}

/** The program applies its own default; it is told to the model, never passed. */
function defaultNote(parameter: AtipArgument | AtipOption): string {
  return parameter.default === undefined ? '' : `(default: ${JSON.stringify(parameter.default)})`
}

/** Parameters of our tools are identifiers; `dry-run` becomes `dry_run`. */
function variableName(name: string): string {
  const safe = name.replace(/[^A-Za-z0-9_]/g, '_')
  return /^\d/.test(safe) ? `_${safe}` : safe
}

function distinct(leaf: AtipLeaf, parameters: ExpandedParameter[]): ExpandedParameter[] {
  const names = parameters.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice === undefined) return parameters
  const line = commandLine(leaf).join(' ')
  throw new AtipValidationError(
    `"${line}" has two parameters that both become "${twice}".`,
    membersTo(leaf.path),
    twice,
  )
}

function timeoutOf({ effects }: AtipLeaf): { timeout_ms?: number } {
  const timeoutMs = durationMs(effects.duration?.timeout)
  return timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }
}
