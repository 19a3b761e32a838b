import { COST_ESTIMATES, TRUST_LEVELS } from '@delta/executor/internal'
import { showValue, valueAt } from '@delta/settings'
import * as z from 'zod/mini'
import { AtipValidationError } from './errors.js'
import { type AtipCommand, type AtipTool, type AtipVersion, PARAMETER_TYPES, STDIN_USES } from './metadata.js'

/** The newest version of the specification that this package acts on. */
const NEWEST = '0.6'

function object(members: Record<string, z.ZodMiniType>) {
  return z.looseObject(members, 'must be an object')
}

function listOf(item: z.ZodMiniType) {
  return z.array(item, 'must be a list')
}

function oneOf(values: readonly string[]) {
  return z.enum(values, `must be one of ${values.map((value) => `"${value}"`).join(', ')}`)
}

const NOT_EMPTY = 'must be a string that is not empty'
const FLAG = 'must be a flag, which begins with "-"'
const WORD = 'must consist of letters, digits, "_" and "-"'

const string = z.string('must be a string')
const maybeString = z.optional(string)
const maybeBoolean = z.optional(z.boolean('must be true or false'))
const maybeStrings = z.optional(listOf(string))

const effects = object({
  filesystem: z.optional(
    object({ read: maybeBoolean, write: maybeBoolean, delete: maybeBoolean, paths: maybeStrings }),
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
    object({ stdin: z.optional(oneOf(STDIN_USES)), prompts: maybeBoolean, tty: maybeBoolean }),
  ),
  cost: z.optional(object({ estimate: z.optional(oneOf(COST_ESTIMATES)), billable: maybeBoolean })),
  duration: z.optional(object({ typical: maybeString, timeout: maybeString })),
})

const argument = {
  name: z.string(NOT_EMPTY).check(z.minLength(1, NOT_EMPTY)),
  type: oneOf(PARAMETER_TYPES),
  description: maybeString,
  required: maybeBoolean,
  variadic: maybeBoolean,
  deprecated: maybeBoolean,
  enum: z.optional(listOf(z.union([z.string(), z.number()], 'must be a string or a number'))),
}

const option = object({
  ...argument,
  flags: listOf(z.string(FLAG).check(z.regex(/^-/, FLAG))).check(
    z.minLength(1, 'must be a list that is not empty'),
  ),
  envVar: maybeString,
})

/** One node. Its own `commands` are not among the members: leaves.ts walks and checks them one by one. */
const command = object({
  description: string,
  arguments: z.optional(listOf(object(argument))),
  options: z.optional(listOf(option)),
  effects: z.optional(effects),
})

const versionDetails = object({ version: string, features: maybeStrings, minAgentVersion: maybeString })

const tool = object({
  name: z.string(WORD).check(z.regex(/^[a-zA-Z0-9_-]+$/, WORD)),
  version: string,
  description: string,
  binary: maybeString,
  trust: z.optional(object({ source: oneOf(TRUST_LEVELS), verified: maybeBoolean })),
  globalOptions: z.optional(listOf(option)),
  authentication: z.optional(object({ methods: z.optional(listOf(object({ envVar: maybeString }))) })),
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
  const [issue] = schema.safeParse(input).error?.issues ?? []
  if (issue === undefined) return
  const path = [...above, ...issue.path.map(String)]
  const value = valueAt(input, issue.path as string[])
  throw new AtipValidationError(`${path.join('.')} ${issue.message}, got ${showValue(value)}.`, path, value)
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
