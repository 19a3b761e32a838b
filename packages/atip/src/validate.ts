import { AtipValidationError } from './errors.js'
import type {
  AtipArgument,
  AtipAuthentication,
  AtipAuthenticationMethod,
  AtipCommand,
  AtipEffects,
  AtipOption,
  AtipTool,
  AtipTrust,
  AtipVersion,
  AtipVersionDetails,
  CostEffects,
  DurationEffects,
  FilesystemEffects,
  InteractiveEffects,
} from './metadata.js'
import {
  anything,
  type Check,
  type Fault,
  fault,
  flag,
  isObject,
  listOf,
  matching,
  objectOf,
  oneOf,
  optional,
  text,
} from './shape.js'
import { NEWEST, neededVersion } from './version.js'

const REQUIRED = ['atip', 'name', 'version', 'description'] as const

const maybeText = optional(text)
const maybeFlag = optional(flag)
const maybeTexts = optional(listOf(text))

const effects = objectOf<AtipEffects>({
  filesystem: optional(
    objectOf<FilesystemEffects>({ read: maybeFlag, write: maybeFlag, delete: maybeFlag, paths: maybeTexts }),
  ),
  network: maybeFlag,
  subprocess: maybeFlag,
  idempotent: maybeFlag,
  reversible: maybeFlag,
  destructive: maybeFlag,
  creates: maybeTexts,
  modifies: maybeTexts,
  deletes: maybeTexts,
  interactive: optional(
    objectOf<InteractiveEffects>({
      stdin: optional(oneOf('none', 'optional', 'required', 'password')),
      prompts: maybeFlag,
      tty: maybeFlag,
    }),
  ),
  cost: optional(
    objectOf<CostEffects>({
      estimate: optional(oneOf('free', 'low', 'medium', 'high')),
      billable: maybeFlag,
    }),
  ),
  duration: optional(objectOf<DurationEffects>({ typical: maybeText, timeout: maybeText })),
})

const choice: Check = (value) =>
  typeof value === 'string' || typeof value === 'number' ? undefined : fault(value, 'a text or a number')

const parameter = {
  name: matching(/[\s\S]/, 'a text that is not empty'),
  type: oneOf('string', 'integer', 'number', 'boolean', 'file', 'directory', 'url', 'enum', 'array'),
  description: maybeText,
  required: maybeFlag,
  default: anything,
  variadic: maybeFlag,
  deprecated: maybeFlag,
  enum: optional(listOf(choice)),
}

const option = objectOf<AtipOption>({
  ...parameter,
  flags: listOf(matching(/^-/, 'a flag, which begins with "-"'), { empty: false }),
  envVar: maybeText,
})

/** Where a node's children are, they are walked and checked one by one, in leaves.ts. */
const command = objectOf<AtipCommand>({
  description: text,
  arguments: optional(listOf(objectOf<AtipArgument>(parameter))),
  options: optional(listOf(option)),
  effects: optional(effects),
  commands: anything,
})

const versionDetails = objectOf<AtipVersionDetails>({
  version: text,
  features: maybeTexts,
  minAgentVersion: maybeText,
})

const tool = objectOf<AtipTool>({
  atip: (value) => (typeof value === 'object' ? versionDetails(value) : text(value)),
  name: matching(/^[a-zA-Z0-9_-]+$/, 'of letters, digits, "_" and "-"'),
  version: text,
  description: text,
  binary: maybeText,
  trust: optional(
    objectOf<AtipTrust>({
      source: oneOf('native', 'vendor', 'org', 'community', 'user', 'inferred'),
      verified: maybeFlag,
    }),
  ),
  commands: anything,
  globalOptions: optional(listOf(option)),
  authentication: optional(
    objectOf<AtipAuthentication>({
      methods: optional(listOf(objectOf<AtipAuthenticationMethod>({ envVar: maybeText }))),
    }),
  ),
  effects: optional(effects),
})

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
