/*
 * The runner alone, for programs that need no tools: it loads neither zod nor the expander.
 */

export type { ByteFilter, CapturedOutput, Keep } from './channels.js'
export {
  CREDENTIAL_NAMES,
  commandEnvironment,
  credentialsOf,
  type EnvironmentOptions,
} from './environment.js'
export { ExecutorError, type ExecutorErrorCode, isExecutorError } from './errors.js'
export { quoteCommand, showControls } from './quote.js'
export { createRedactor, REDACTED, type Redactor, redactFile, redactPatterns } from './redact.js'
export type { StartError, StartErrorCode } from './run-command.js'
export {
  type CommandOptions,
  type CommandOutcome,
  killRunningCommands,
  runCommand,
} from './run-command.js'
