/*
 * The members of ATIP metadata we act on. Unknown members are allowed and kept, and an absent
 * effect means "unknown", never "safe". schema.ts holds the checks that stand behind these types.
 */

/** What a command does to the world. Absent members are unknown, not safe. */
export interface AtipEffects extends UnknownMembers {
  filesystem?: FilesystemEffects | undefined
  network?: boolean | undefined
  subprocess?: boolean | undefined
  idempotent?: boolean | undefined
  reversible?: boolean | undefined
  destructive?: boolean | undefined
  creates?: readonly string[] | undefined
  modifies?: readonly string[] | undefined
  deletes?: readonly string[] | undefined
  interactive?: InteractiveEffects | undefined
  cost?: CostEffects | undefined
  /** `timeout` is a text such as `"60s"`. */
  duration?: DurationEffects | undefined
}

export interface FilesystemEffects extends UnknownMembers {
  read?: boolean | undefined
  write?: boolean | undefined
  delete?: boolean | undefined
  paths?: readonly string[] | undefined
}

export interface InteractiveEffects extends UnknownMembers {
  stdin?: (typeof STDIN_USES)[number] | undefined
  prompts?: boolean | undefined
  tty?: boolean | undefined
}

export interface CostEffects extends UnknownMembers {
  estimate?: CostEstimate | undefined
  billable?: boolean | undefined
}

export interface DurationEffects extends UnknownMembers {
  typical?: string | undefined
  timeout?: string | undefined
}

/** How much of an answer a command wants on its standard input, the least first. */
export const STDIN_USES = ['none', 'optional', 'required', 'password'] as const

/** The cheapest first. */
export const COST_ESTIMATES = ['free', 'low', 'medium', 'high'] as const
export type CostEstimate = (typeof COST_ESTIMATES)[number]

export const PARAMETER_TYPES = [
  'string',
  'integer',
  'number',
  'boolean',
  'file',
  'directory',
  'url',
  'enum',
  'array',
] as const
export type AtipParamType = (typeof PARAMETER_TYPES)[number]

/** A positional argument; `required` defaults to true. */
export interface AtipArgument extends UnknownMembers {
  name: string
  type: AtipParamType
  /** Required by the specification; metadata in the wild leaves it out, and a missing text harms nobody. */
  description?: string | undefined
  required?: boolean | undefined
  default?: unknown
  variadic?: boolean | undefined
  deprecated?: boolean | undefined
  enum?: readonly (string | number)[] | undefined
}

/** A flag; `required` defaults to false. */
export interface AtipOption extends AtipArgument {
  flags: readonly string[]
  envVar?: string | undefined
}

/** A node of the command tree. With `commands` it is a group, and only its leaves can be called. */
export interface AtipCommand extends UnknownMembers {
  description: string
  arguments?: readonly AtipArgument[] | undefined
  options?: readonly AtipOption[] | undefined
  effects?: AtipEffects | undefined
  commands?: Record<string, AtipCommand> | undefined
}

/** The JSON object a tool prints for `--agent`. */
export interface AtipTool extends UnknownMembers {
  atip: AtipVersion
  name: string
  version: string
  description: string
  /** What to start instead of `name`. */
  binary?: string | undefined
  trust?: AtipTrust | undefined
  commands?: Record<string, AtipCommand> | undefined
  globalOptions?: readonly AtipOption[] | undefined
  authentication?: AtipAuthentication | undefined
  effects?: AtipEffects | undefined
}

/** `"0.3"`, or the object that later versions have. */
export type AtipVersion = string | AtipVersionDetails

export interface AtipVersionDetails extends UnknownMembers {
  version: string
  features?: readonly string[] | undefined
  minAgentVersion?: string | undefined
}

/** Who wrote the metadata. Self-declared: an importer may lower it, never raise it. Absent is `inferred`. */
export interface AtipTrust extends UnknownMembers {
  source: TrustSource
  verified?: boolean | undefined
}

/** The most trusted first. */
export const TRUST_SOURCES = ['native', 'vendor', 'org', 'community', 'user', 'inferred'] as const
export type TrustSource = (typeof TRUST_SOURCES)[number]

export interface AtipAuthentication extends UnknownMembers {
  methods?: readonly AtipAuthenticationMethod[] | undefined
}

export interface AtipAuthenticationMethod extends UnknownMembers {
  envVar?: string | undefined
}

interface UnknownMembers {
  [member: string]: unknown
}
