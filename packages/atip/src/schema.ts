import { fitShape, formatPath, valueAt } from '@delta/settings'
import { effectsSchema, TRUST_LEVELS } from '@delta/tool-expander/internal'
import * as z from 'zod/mini'
import { AtipValidationError } from './errors.js'
import { type AtipCommand, type AtipTool, type AtipVersion, PARAMETER_TYPES } from './metadata.js'

/** The newest version of the specification that this package acts on. */
const NEWEST = '0.6'

const text = z.optional(z.string())
const yesOrNo = z.optional(z.boolean())
const effects = z.optional(effectsSchema)

const argument = {
  name: z.string().check(z.minLength(1)),
  type: z.enum(PARAMETER_TYPES),
  description: text,
  required: yesOrNo,
  variadic: yesOrNo,
  deprecated: yesOrNo,
  enum: z.optional(z.array(z.union([z.string(), z.number()], 'a string or a number'))),
}

const FLAG = 'a flag, which begins with "-"'
const flag = z.string(FLAG).check(z.regex(/^-/, FLAG))
const option = z.object({ ...argument, flags: z.array(flag).check(z.minLength(1)), envVar: text })

/** One node. Its own `commands` are not among the members: leaves.ts walks and checks them one by one. */
const command = z.object({
  description: z.string(),
  arguments: z.optional(z.array(z.object(argument))),
  options: z.optional(z.array(option)),
  effects,
})

const versionDetails = z.object({
  version: z.string(),
  features: z.optional(z.array(z.string())),
  minAgentVersion: text,
})

const WORD = 'letters, digits, "_" and "-"'

const tool = z.object({
  name: z.string(WORD).check(z.regex(/^[a-zA-Z0-9_-]+$/, WORD)),
  version: z.string(),
  description: z.string(),
  binary: text,
  trust: z.optional(z.object({ source: z.enum(TRUST_LEVELS), verified: yesOrNo })),
  globalOptions: z.optional(z.array(option)),
  authentication: z.optional(z.object({ methods: z.optional(z.array(z.object({ envVar: text }))) })),
  effects,
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
  check(isObject(atip) ? versionDetails : z.string(), atip, ['atip'])
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

/** Members that nobody knows are allowed everywhere. */
function check(schema: z.ZodMiniType, input: unknown, above: readonly string[]): void {
  const problem = fitShape(schema, input).problems.find(({ unknownKey }) => !unknownKey)
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
