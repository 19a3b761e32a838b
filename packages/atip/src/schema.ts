import { COST_ESTIMATES, TRUST_LEVELS } from '@delta/executor/internal'
import { fitShape, formatPath, valueAt } from '@delta/settings'
import * as z from 'zod/mini'
import { AtipValidationError } from './errors.js'
import { type AtipCommand, type AtipTool, type AtipVersion, PARAMETER_TYPES, STDIN_USES } from './metadata.js'

/** The newest version of the specification that this package acts on. */
const NEWEST = '0.6'

const FLAG = 'a flag, which begins with "-"'
const WORD = 'letters, digits, "_" and "-"'

const string = z.string()
const maybeString = z.optional(string)
const maybeBoolean = z.optional(z.boolean())
const maybeStrings = z.optional(z.array(string))

const effects = z.looseObject({
  filesystem: z.optional(
    z.looseObject({ read: maybeBoolean, write: maybeBoolean, delete: maybeBoolean, paths: maybeStrings }),
  ),
  network: maybeBoolean,
  subprocess: maybeBoolean,
  idempotent: maybeBoolean,
  reversible: maybeBoolean,
  destructive: maybeBoolean,
  creates: maybeStrings,
  modifies: maybeStrings,
  deletes: maybeStrings,
  interactive: z.optional(
    z.looseObject({ stdin: z.optional(z.enum(STDIN_USES)), prompts: maybeBoolean, tty: maybeBoolean }),
  ),
  cost: z.optional(z.looseObject({ estimate: z.optional(z.enum(COST_ESTIMATES)), billable: maybeBoolean })),
  duration: z.optional(z.looseObject({ typical: maybeString, timeout: maybeString })),
})

const argument = {
  name: string.check(z.minLength(1)),
  type: z.enum(PARAMETER_TYPES),
  description: maybeString,
  required: maybeBoolean,
  variadic: maybeBoolean,
  deprecated: maybeBoolean,
  enum: z.optional(z.array(z.union([string, z.number()]))),
}

const option = z.looseObject({
  ...argument,
  flags: z.array(z.string(FLAG).check(z.regex(/^-/, FLAG))).check(z.minLength(1)),
  envVar: maybeString,
})

/** One node. Its own `commands` are not among the members: leaves.ts walks and checks them one by one. */
const command = z.looseObject({
  description: string,
  arguments: z.optional(z.array(z.looseObject(argument))),
  options: z.optional(z.array(option)),
  effects: z.optional(effects),
})

const versionDetails = z.looseObject({
  version: string,
  features: maybeStrings,
  minAgentVersion: maybeString,
})

const tool = z.looseObject({
  name: z.string(WORD).check(z.regex(/^[a-zA-Z0-9_-]+$/, WORD)),
  version: string,
  description: string,
  binary: maybeString,
  trust: z.optional(z.looseObject({ source: z.enum(TRUST_LEVELS), verified: maybeBoolean })),
  globalOptions: z.optional(z.array(option)),
  authentication: z.optional(
    z.looseObject({ methods: z.optional(z.array(z.looseObject({ envVar: maybeString }))) }),
  ),
  effects: z.optional(effects),
})

/**
 * Checks the root of the metadata; its commands are checked where they are walked.
 *
 * @throws {AtipValidationError} The first fault, with the path from the root.
 */
export function assertTool(input: unknown): asserts input is AtipTool {
  if (!isObject(input)) throw new AtipValidationError('ATIP metadata must be one JSON object.', [], input)
  for (const field of ['atip', 'name', 'version', 'description']) {
    const value = input[field]
    if (value !== undefined && value !== '') continue
    throw new AtipValidationError(`Missing required field "${field}" in the ATIP metadata.`, [field], value)
  }
  const { atip } = input
  check(isObject(atip) ? versionDetails : string, atip, ['atip'])
  check(tool, input, [])
  const needed = neededVersion(atip as AtipVersion)
  if (needed === undefined) return
  const message = `The ATIP metadata of ${input.name} is for readers of ATIP ${needed} and later; this one reads up to ${NEWEST}.`
  throw new AtipValidationError(message, ['atip', 'minAgentVersion'], needed)
}

/** Checks one command, without its children. `path` holds the names of its groups and its own. */
export function assertCommand(input: unknown, path: readonly string[]): asserts input is AtipCommand {
  check(command, input, membersTo(path))
}

/** The members of the metadata that lead to a command. */
export function membersTo(path: readonly string[]): string[] {
  return path.flatMap((key) => ['commands', key])
}

function check(schema: z.ZodMiniType, input: unknown, above: readonly string[]): void {
  const [problem] = fitShape(schema, input).problems
  if (problem === undefined) return
  const path = [...above, ...problem.path]
  const message = `${formatPath(path)}: ${problem.message}.` // a hint says how to write it in YAML, and this is JSON
  throw new AtipValidationError(message, path.map(String), valueAt(input, problem.path))
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * What to tell a person about metadata of an unknown version. It is read all the same, but its new members, an effect for
 * example, are ignored. Undefined for a known version.
 */
export function versionNotice({ atip }: Pick<AtipTool, 'atip'>): string | undefined {
  const version = typeof atip === 'object' ? atip.version : atip
  if (!/^\d+(\.\d+)*$/.test(version)) return `"${version}" is not a version of ATIP; it is read as ${NEWEST}.`
  return isNewer(version)
    ? `This is ATIP ${version}; what is newer than ${NEWEST} in it has no effect here.`
    : undefined
}

/** The version that the metadata wants its reader to know, if it is newer than ours. */
function neededVersion(atip: AtipVersion): string | undefined {
  const needed = typeof atip === 'object' ? atip.minAgentVersion : undefined
  return needed !== undefined && isNewer(needed) ? needed : undefined
}

/** By numbers, so that 0.10 is newer than 0.9. */
function isNewer(version: string): boolean {
  return version.localeCompare(NEWEST, 'en', { numeric: true }) > 0
}
