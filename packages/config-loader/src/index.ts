export { AGENT_DEFAULTS, type Agent } from './agent.js'
export { type Environment, type EnvironmentOptions, loadEnvironment } from './environment/environment.js'
export type { WorkspaceEndpoint } from './environment/environment-checks.js'
export {
  ConfigError,
  type ConfigErrorCode,
  type ConfigProblem,
  type ConfigWarning,
  isConfigError,
} from './errors.js'
export type { LoadCache } from './files/load-cache.js'
export { formatProblem, formatReport } from './format.js'
export { listSettings, type Setting } from './list-settings.js'
export { loadAgent } from './load-agent.js'
export { type LoadedTools, loadToolsFile } from './load-tools-file.js'
export { DEFAULT_CONTEXT_YAML, missingContextMessage } from './parts/context-file.js'
export type { LoadOptions } from './parts/parts.js'
export { HOOK_NAMES, type Hook, type HookName, type Hooks } from './schemas/hook.js'
export type { Snapshot } from './snapshot.js'
export type { Override } from './tools/tool-set.js'
