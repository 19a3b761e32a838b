import {
  type AtipArgument,
  type AtipAuthentication,
  type AtipAuthenticationMethod,
  type AtipCommand,
  type AtipEffects,
  type AtipOption,
  type AtipTool,
  type AtipTrust,
  type AtipVersionDetails,
  COST_ESTIMATES,
  type CostEffects,
  type DurationEffects,
  type FilesystemEffects,
  type InteractiveEffects,
  PARAMETER_TYPES,
  STDIN_USES,
  TRUST_SOURCES,
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
      stdin: optional(oneOf(...STDIN_USES)),
      prompts: maybeFlag,
      tty: maybeFlag,
    }),
  ),
  cost: optional(
    objectOf<CostEffects>({
      estimate: optional(oneOf(...COST_ESTIMATES)),
      billable: maybeFlag,
    }),
  ),
  duration: optional(objectOf<DurationEffects>({ typical: maybeText, timeout: maybeText })),
})

const choice: Check = (value) =>
  typeof value === 'string' || typeof value === 'number' ? undefined : fault(value, 'a text or a number')

const parameter = {
  name: matching(/[\s\S]/, 'a text that is not empty'),
  type: oneOf(...PARAMETER_TYPES),
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
      source: oneOf(...TRUST_SOURCES),
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
