export { DEFAULT_CONTEXT_YAML, missingContextMessage } from './context.js'
export type { WorkspaceEndpoint } from './environment.js'
export { type Environment, type EnvironmentOptions, loadEnvironment } from './environment.js'
export { HOOK_NAMES, type Hook, type HookName, type Hooks } from './hooks.js'
export type { Override } from './imports.js'
export { AGENT_DEFAULTS, type Agent, type LoadOptions, loadAgent, type Snapshot } from './load-agent.js'
export { type LoadedTools, loadToolsFile } from './load-tools-file.js'
export {
  ConfigError,
  type ConfigErrorCode,
  type ConfigProblem,
  type ConfigWarning,
  formatProblem,
  formatReport,
  isConfigError,
} from './problems.js'
export { listSettings, type Setting } from './settings.js'
