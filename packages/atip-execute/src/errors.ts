import type { AtipEffects, TrustSource } from '@delta/atip'
import { AtipExecuteError } from './base-error.js'
import type { ConfirmationContext, PolicyViolation } from './policy.js'
import type { ValidationError } from './validate-call.js'

/** No tool has a command of this name. */
export class UnknownCommandError extends AtipExecuteError {
  override readonly name = 'UnknownCommandError'

  constructor(readonly toolName: string) {
    super(`There is no command "${toolName}". Nothing was run.`, 'UNKNOWN_COMMAND')
  }
}

/** The arguments do not fit the command; `errors` names every one that does not. */
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

/** The policy forbids the call, or the person asked said no. */
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
  /** The same as `actualTrust`, under the name that other implementations use; so is `required`. */
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

/** The command ran too long and was ended, with everything it had started. Holds what it printed until then. */
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

/** The command would wait for someone at the keyboard, and there is no one. */
export class InteractiveNotSupportedError extends AtipExecuteError {
  override readonly name = 'InteractiveNotSupportedError'

  constructor(
    readonly toolName: string,
    readonly interactiveEffects: NonNullable<AtipEffects['interactive']>,
  ) {
    super(
      `"${toolName}" asks questions while it runs, and nobody could answer. Nothing was run.`,
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
