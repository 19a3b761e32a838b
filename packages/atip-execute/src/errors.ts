import type { AtipEffects, AtipTrust, TrustSource } from '@delta/atip'

/** The base of all errors here. Branch on `code` or on the class; show `message` to people. */
export class AtipExecuteError extends Error {
  override readonly name: string = 'AtipExecuteError'

  constructor(
    message: string,
    readonly code: string,
    options?: { cause?: unknown },
  ) {
    super(message, options)
  }
}

/** No tool has a command of this name. */
export class UnknownCommandError extends AtipExecuteError {
  override readonly name = 'UnknownCommandError'

  constructor(readonly toolName: string) {
    super(`There is no command "${toolName}". Nothing was run.`, 'UNKNOWN_COMMAND')
  }
}

/** `INVALID_FORMAT` and `UNKNOWN_PARAMETER` are part of the interface and never used: an extra parameter is a warning. */
export type ValidationErrorCode =
  | 'MISSING_REQUIRED'
  | 'INVALID_TYPE'
  | 'INVALID_ENUM'
  | 'INVALID_FORMAT'
  | 'UNKNOWN_PARAMETER'
  | 'UNKNOWN_COMMAND'

/** One thing wrong with a call. */
export interface ValidationError {
  code: ValidationErrorCode
  /** A sentence for the model that made the call. */
  message: string
  /** Absent when it is about the call as a whole. */
  parameter?: string
  /** What was sent; absent when nothing was. */
  value?: unknown
  /** The type, or the values, that are accepted. */
  expected?: string
}

/** The arguments do not fit the command. `errors` names each one that does not. */
export class ArgumentValidationError extends AtipExecuteError {
  override readonly name = 'ArgumentValidationError'

  constructor(
    message: string,
    readonly toolName: string,
    readonly errors: ValidationError[],
  ) {
    super(message, 'VALIDATION_FAILED')
  }
}

/** Which rule of an `ExecutionPolicy` a call breaks. */
export type PolicyViolationCode =
  | 'DESTRUCTIVE_BLOCKED'
  | 'NON_REVERSIBLE_BLOCKED'
  | 'BILLABLE_BLOCKED'
  | 'NETWORK_BLOCKED'
  | 'FILESYSTEM_WRITE_BLOCKED'
  | 'FILESYSTEM_DELETE_BLOCKED'
  | 'TRUST_INSUFFICIENT'
  | 'COST_EXCEEDED'
  | 'INTERACTIVE_BLOCKED'

/** One rule that a call breaks. */
export interface PolicyViolation {
  code: PolicyViolationCode
  /** A sentence for people, which begins with the name of the command. */
  message: string
  /** Part of the interface; always `error`. */
  severity: 'error' | 'warning'
}

/** The policy forbids the call, or the person who was asked did not agree. */
export class PolicyViolationError extends AtipExecuteError {
  override readonly name = 'PolicyViolationError'

  constructor(
    message: string,
    readonly toolName: string,
    readonly violations: PolicyViolation[],
  ) {
    super(message, 'POLICY_VIOLATION')
  }
}

/** Why a person must agree. `low-trust` is only ever a reason to refuse. */
export type ConfirmationReason =
  | 'destructive'
  | 'non-reversible'
  | 'billable'
  | 'low-trust'
  | 'filesystem-delete'
  | 'cost-high'

/** What the person who is asked reads. */
export interface ConfirmationContext {
  /** The flat name. */
  toolName: string
  /** The whole command line with its arguments, exactly as it will run. */
  command: string[]
  /** As the model sent them. */
  arguments: Record<string, unknown>
  reasons: ConfirmationReason[]
  /** Merged with those of its groups and its tool. */
  effects: AtipEffects
  /** Absent when the metadata does not say. */
  trust?: AtipTrust
}

/** A person must agree first, and there is no `confirmationHandler` to ask them. */
export class RequiresConfirmationError extends AtipExecuteError {
  override readonly name = 'RequiresConfirmationError'

  constructor(readonly context: ConfirmationContext) {
    super(`"${context.toolName}" needs a person's agreement. Nothing was run.`, 'REQUIRES_CONFIRMATION')
  }
}

/** The tool is trusted less than the policy demands. */
export class InsufficientTrustError extends AtipExecuteError {
  override readonly name = 'InsufficientTrustError'
  /** `actual` and `required` repeat the two under the names that other implementations use. */
  readonly actual: TrustSource
  readonly required: TrustSource

  constructor(
    readonly toolName: string,
    readonly actualTrust: TrustSource,
    readonly requiredTrust: TrustSource,
  ) {
    const message = `"${toolName}" is trusted as "${actualTrust}", and the policy demands "${requiredTrust}". Nothing was run.`
    super(message, 'INSUFFICIENT_TRUST')
    this.actual = actualTrust
    this.required = requiredTrust
  }
}

/** The command could not be started. */
export class ExecutionError extends AtipExecuteError {
  override readonly name = 'ExecutionError'

  constructor(
    message: string,
    readonly command: string[],
    cause?: unknown,
  ) {
    super(message, 'EXECUTION_FAILED', { cause })
  }
}

/** The command ran too long and was ended with all processes it started. Holds what it printed until then. */
export class TimeoutError extends AtipExecuteError {
  override readonly name = 'TimeoutError'

  constructor(
    readonly command: string[],
    readonly timeout: number,
    readonly stdout = '',
    readonly stderr = '',
  ) {
    super(`${command[0]} did not end within ${timeout} ms and was ended.`, 'TIMEOUT')
  }
}

/**
 * The command would wait for a person at the keyboard, and it has no terminal. A call that gives its `--yes` never gets this for
 * `prompts`.
 */
export class InteractiveNotSupportedError extends AtipExecuteError {
  override readonly name = 'InteractiveNotSupportedError'

  constructor(
    readonly toolName: string,
    readonly interactiveEffects: NonNullable<AtipEffects['interactive']>,
  ) {
    super(
      `"${toolName}" asks questions while it runs, and it has no terminal. Nothing was run.`,
      'INTERACTIVE_NOT_SUPPORTED',
    )
  }
}

const CODES = [
  'UNKNOWN_COMMAND',
  'VALIDATION_FAILED',
  'POLICY_VIOLATION',
  'REQUIRES_CONFIRMATION',
  'INSUFFICIENT_TRUST',
  'EXECUTION_FAILED',
  'TIMEOUT',
  'INTERACTIVE_NOT_SUPPORTED',
  'INVALID_CONFIG',
  'ABORTED',
]

/** True for the errors of this package, also from a second installed copy. */
export function isAtipExecuteError(error: unknown): error is AtipExecuteError {
  return (
    error instanceof Error &&
    'code' in error &&
    CODES.includes(String(error.code)) &&
    error.name.endsWith('Error')
  )
}
