/*
 * The runner alone, for programs that need no tools: it loads neither zod nor the expander.
 */
export type { CapturedOutput, Keep } from './captured.js'
export {
  CREDENTIAL_NAMES,
  commandEnvironment,
  credentialsOf,
  type EnvironmentOptions,
} from './environment.js'
export { ExecutorError, type ExecutorErrorCode, isExecutorError, type SettingsProblem } from './errors.js'
export { killRunningCommands } from './process-group.js'
export type { ByteFilter } from './pump.js'
export { quoteCommand } from './quote.js'
export { redactFile } from './redact-file.js'
export { createRedactor, type Redactor } from './redactor.js'
export { type CommandOptions, type CommandOutcome, runCommand } from './run-command.js'
export { REDACTED, redactPatterns } from './secret-patterns.js'
export { showControls } from './show-controls.js'
export type { StartError, StartErrorCode } from './start-error.js'
