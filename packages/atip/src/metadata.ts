/*
 * The members of ATIP metadata we act on. Unknown members are allowed and kept, and an absent
 * effect means "unknown", never "safe". schema.ts holds the checks that stand behind these types.
 */

/** What a command does to the world. Absent members are unknown, not safe. */
export interface AtipEffects extends UnknownMembers {
  filesystem?: FilesystemEffects | undefined
  /** Whether it speaks to other machines. */
  network?: boolean | undefined
  /** Whether it starts programs of its own. */
  subprocess?: boolean | undefined
  /** Whether doing it twice is as good as once. */
  idempotent?: boolean | undefined
  /** Whether what it did can be undone. */
  reversible?: boolean | undefined
  /** Whether it may destroy data. */
  destructive?: boolean | undefined
  /**
   * Kinds of things, in its author's words. To the policies of `@delta/executor`, `creates` and `modifies` are writes,
   * `deletes` deletes; those of this package look at `filesystem` alone.
   */
  creates?: readonly string[] | undefined
  modifies?: readonly string[] | undefined
  deletes?: readonly string[] | undefined
  /** What it wants of somebody at the keyboard. */
  interactive?: InteractiveEffects | undefined
  cost?: CostEffects | undefined
  /** `timeout` is a text such as `"60s"`. */
  duration?: DurationEffects | undefined
}

export interface FilesystemEffects extends UnknownMembers {
  read?: boolean | undefined
  write?: boolean | undefined
  delete?: boolean | undefined
  /** Where, as its author wrote it; no rule looks at it. */
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
  /** As `timeout`: `"2s"`, `"1.5m"`, `"200ms"`. */
  typical?: string | undefined
  timeout?: string | undefined
}

/** How much of an answer a command wants on its standard input, the least first. */
export const STDIN_USES = ['none', 'optional', 'required', 'password'] as const

/** The cheapest first. */
export const COST_ESTIMATES = ['free', 'low', 'medium', 'high'] as const
/** What a call costs in its author's judgement, from `free` to `high`; no amount of money. */
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
/** What a value is. `file`, `directory` and `url` are texts to a model, and nothing checks that they exist. */
export type AtipParamType = (typeof PARAMETER_TYPES)[number]

/** A positional argument; `required` defaults to true. */
export interface AtipArgument extends UnknownMembers {
  /** The key of the argument in a call. */
  name: string
  type: AtipParamType
  /** Required by the specification; metadata in the wild leaves it out, and a missing text harms nobody. */
  description?: string | undefined
  required?: boolean | undefined
  /** What the program itself takes when nothing is given; never passed to it. */
  default?: unknown
  /** Takes any number of values. */
  variadic?: boolean | undefined
  deprecated?: boolean | undefined
  /** The only values there may be. */
  enum?: readonly (string | number)[] | undefined
}

/** A flag; `required` defaults to false. */
export interface AtipOption extends AtipArgument {
  /** As they are typed: `["-t", "--title"]`. See `longFlag`. */
  flags: readonly string[]
  /** The variable that the program reads when the flag is not given. For people; never set here. */
  envVar?: string | undefined
}

/** A node of the command tree. With `commands` it is a group, and only its leaves can be called. */
export interface AtipCommand extends UnknownMembers {
  description: string
  arguments?: readonly AtipArgument[] | undefined
  options?: readonly AtipOption[] | undefined
  effects?: AtipEffects | undefined
  /** By the word that is typed for each. */
  commands?: Record<string, AtipCommand> | undefined
}

/** The JSON object a tool prints for `--agent`. */
export interface AtipTool extends UnknownMembers {
  atip: AtipVersion
  /** The program, and the first part of the flat names. */
  name: string
  /** Of the program, as it writes it. */
  version: string
  description: string
  /** What to start instead of `name`. */
  binary?: string | undefined
  /** Absent: `inferred`. */
  trust?: AtipTrust | undefined
  /** By the word that is typed for each. The key `""` is the bare program. */
  commands?: Record<string, AtipCommand> | undefined
  /** Flags that every command takes. */
  globalOptions?: readonly AtipOption[] | undefined
  /** Names the variables that hold its secrets: `createResultFilter` hides what follows `NAME=` in a result. */
  authentication?: AtipAuthentication | undefined
  /** Of every command, whatever it says itself: see `mergeEffects`. */
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
  /** Self-declared, too. Nothing looks at it. */
  verified?: boolean | undefined
}

/** The most trusted first. */
export const TRUST_SOURCES = ['native', 'vendor', 'org', 'community', 'user', 'inferred'] as const
/** Who stands behind metadata: its program (`native`), its maker, one's own organisation … or a guess (`inferred`). */
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
