/*
 * The runner alone, for programs that need no tools: it loads neither zod nor the expander.
 */

export {
  CREDENTIAL_NAMES,
  commandEnvironment,
  credentialsOf,
  type EnvironmentOptions,
} from './environment.js'
export { ExecutorError, type ExecutorErrorCode, isExecutorError } from './errors.js'
export type { CapturedOutput, Keep } from './process/captured.js'
export type { ByteFilter } from './process/pump.js'
export {
  type CommandOptions,
  type CommandOutcome,
  killRunningCommands,
  runCommand,
} from './process/run-command.js'
export type { StartError, StartErrorCode } from './process/start-error.js'
export { quoteCommand, showControls } from './quote.js'
export { createRedactor, REDACTED, type Redactor, redactFile, redactPatterns } from './redact.js'
