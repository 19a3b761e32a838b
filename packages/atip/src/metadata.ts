import type { CostEstimate, TrustLevel } from '@delta/tool-expander'
import type { STDIN_USES } from '@delta/tool-expander/internal'

/*
 * The members of ATIP metadata this package acts on. Unknown members are allowed and kept, and an absent
 * effect means "unknown", never "safe". schema.ts holds the checks that stand behind these types.
 */

/** What a command does to the world. Absent members are unknown, not safe. */
export interface AtipEffects extends UnknownMembers {
  filesystem?: FilesystemEffects | undefined
  /** Whether it speaks to other machines. */
  network?: boolean | undefined
  /** Whether it starts other programs. */
  subprocess?: boolean | undefined
  /** Whether doing it twice has the effect of doing it once. */
  idempotent?: boolean | undefined
  /** Whether its effect can be undone. */
  reversible?: boolean | undefined
  /** Whether it may destroy data. */
  destructive?: boolean | undefined
  /**
   * Kinds of things, in its author's words. Agents and `@delta/atip-execute` count `creates` and `modifies` as writing files and
   * `deletes` as deleting them; `createValidator` looks at `filesystem` alone.
   */
  creates?: readonly string[] | undefined
  modifies?: readonly string[] | undefined
  deletes?: readonly string[] | undefined
  /** What it expects of a person at the keyboard. */
  interactive?: InteractiveEffects | undefined
  cost?: CostEffects | undefined
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

/** Strings such as `"2s"`, `"1.5m"`, `"200ms"`. */
export interface DurationEffects extends UnknownMembers {
  typical?: string | undefined
  timeout?: string | undefined
}

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
/** The type of a value. `file`, `directory` and `url` are strings to a model; whether they exist is not checked. */
export type AtipParamType = (typeof PARAMETER_TYPES)[number]

/** A positional argument; `required` defaults to true. */
export interface AtipArgument extends UnknownMembers {
  /** The key of the argument in a tool call. */
  name: string
  type: AtipParamType
  /** The specification requires it, metadata in the wild leaves it out; both are accepted. */
  description?: string | undefined
  required?: boolean | undefined
  /** What the program itself uses when nothing is given; never passed to it. */
  default?: unknown
  /** Whether it accepts any number of values. */
  variadic?: boolean | undefined
  deprecated?: boolean | undefined
  /** The only values it accepts. */
  enum?: readonly (string | number)[] | undefined
}

/** A flag; `required` defaults to false. */
export interface AtipOption extends AtipArgument {
  /** As they are typed: `["-t", "--title"]`. The first long one is written. */
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
  /** Subcommands by the word that is typed for each. */
  commands?: Record<string, AtipCommand> | undefined
}

/** The JSON object a program prints for `--agent`. */
export interface AtipTool extends UnknownMembers {
  atip: AtipVersion
  /** The program, and the first part of the flat names. */
  name: string
  /** Version of the program, as it writes it. */
  version: string
  description: string
  /** What to start instead of `name`. */
  binary?: string | undefined
  /** Absent: `inferred`. */
  trust?: AtipTrust | undefined
  /** Commands by the word that is typed for each. The key `""` is the bare program. */
  commands?: Record<string, AtipCommand> | undefined
  /** Flags that every command accepts. */
  globalOptions?: readonly AtipOption[] | undefined
  /** Names the variables that hold its secrets: `createResultFilter` redacts what follows `NAME=` in a result. */
  authentication?: AtipAuthentication | undefined
  /** Effects of every command. Where a command differs, the more dangerous of both counts. */
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
  /** Self-declared, too, and ignored. */
  verified?: boolean | undefined
}

/** Who stands behind metadata: the program (`native`), its maker, one's own organisation … or a guess (`inferred`). */
export type TrustSource = TrustLevel

export type { CostEstimate }

export interface AtipAuthentication extends UnknownMembers {
  methods?: readonly AtipAuthenticationMethod[] | undefined
}

export interface AtipAuthenticationMethod extends UnknownMembers {
  envVar?: string | undefined
}

interface UnknownMembers {
  [member: string]: unknown
}
