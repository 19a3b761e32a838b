import type * as z from 'zod/mini'
import { AtipValidationError } from './errors.js'
import { isObject } from './is-object.js'
import type { AtipCommand, AtipTool, AtipVersion } from './metadata.js'
import { command, tool, versionDetails } from './schema.js'
import { NEWEST, neededVersion } from './version.js'

const REQUIRED = ['atip', 'name', 'version', 'description'] as const

/**
 * Checks the root of the metadata; its commands are checked where they are walked.
 *
 * @throws {AtipValidationError} The first fault, with the path from the root.
 */
export function assertTool(input: unknown): asserts input is AtipTool {
  if (!isObject(input)) throw new AtipValidationError('ATIP metadata must be one JSON object.', [], input)
  for (const field of REQUIRED) {
    if (input[field] === undefined || input[field] === '') {
      throw new AtipValidationError(
        `Missing required field "${field}" in the ATIP metadata.`,
        [field],
        input[field],
      )
    }
  }
  const { atip } = input
  if (isObject(atip)) check(versionDetails, atip, ['atip'])
  else if (typeof atip !== 'string') throw invalid('must be a text', ['atip'], atip)
  check(tool, input, [])
  const needed = neededVersion(input.atip as AtipVersion)
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

/** Throws the first problem. `path` leads from the root to the input. */
function check(schema: z.ZodMiniType, input: unknown, path: readonly string[]): void {
  const [issue] = schema.safeParse(input).error?.issues ?? []
  if (issue === undefined) return
  const value = issue.path.reduce<unknown>((inner, key) => Object(inner)[key], input)
  throw invalid(issue.message, [...path, ...issue.path.map(String)], value)
}

function invalid(message: string, path: string[], value: unknown): AtipValidationError {
  return new AtipValidationError(`${shownPath(path)} ${message}, ${shown(value)}.`, path, value)
}

function shown(value: unknown): string {
  if (value === undefined) return 'and is missing'
  if (Array.isArray(value)) return value.length === 0 ? 'not an empty list' : 'not a list'
  if (typeof value === 'object' && value !== null) return 'not an object'
  const json = typeof value === 'bigint' ? `${value}n` : (JSON.stringify(value) ?? typeof value)
  return `not ${json.length > 60 ? `${json.slice(0, 60)}…` : json}`
}

/** `commands.pr.options.0.flags`; of a path that is longer than a line, both ends. */
export function shownPath(path: readonly string[]): string {
  const whole = path.join('.')
  return whole.length <= 120 ? whole : `${whole.slice(0, 60)}…${whole.slice(-59)}`
}
