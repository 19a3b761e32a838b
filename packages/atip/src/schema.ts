import type {
  AtipArgument,
  AtipAuthentication,
  AtipAuthenticationMethod,
  AtipCommand,
  AtipEffects,
  AtipOption,
  AtipTool,
  AtipTrust,
  AtipVersionDetails,
  CostEffects,
  DurationEffects,
  FilesystemEffects,
  InteractiveEffects,
} from './metadata.js'
import {
  anything,
  type Check,
  fault,
  flag,
  listOf,
  matching,
  objectOf,
  oneOf,
  optional,
  text,
} from './shape.js'

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
export const command = objectOf<AtipCommand>({
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

export const tool = objectOf<AtipTool>({
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
