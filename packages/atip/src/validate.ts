import { AtipValidationError } from './errors.js'
import type { AtipCommand, AtipTool, AtipVersion } from './metadata.js'
import { command, tool } from './schema.js'
import { type Fault, isObject } from './shape.js'
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
  refuse(tool(input), [])
  const needed = neededVersion(input.atip as AtipVersion)
  if (needed === undefined) return
  const message = `The ATIP metadata of ${input.name} is for readers of ATIP ${needed} and later; this one reads up to ${NEWEST}.`
  throw new AtipValidationError(message, ['atip', 'minAgentVersion'], needed)
}

/** Checks one command, without its children. `path` holds the names of its groups and its own. */
export function assertCommand(input: unknown, path: readonly string[]): asserts input is AtipCommand {
  const found = command(input)
  if (found) refuse(found, membersTo(path))
}

/** The members of the metadata that lead to a command. */
export function membersTo(path: readonly string[]): string[] {
  return path.flatMap((key) => ['commands', key])
}

function refuse(found: Fault | undefined, path: readonly string[]): void {
  if (!found) return
  const full = [...path, ...found.path]
  throw new AtipValidationError(`${shownPath(full)} ${found.message}.`, full, found.value)
}

/** `commands.pr.options.0.flags`; of a path that is longer than a line, both ends. */
export function shownPath(path: readonly string[]): string {
  const whole = path.join('.')
  return whole.length <= 120 ? whole : `${whole.slice(0, 60)}…${whole.slice(-59)}`
}
