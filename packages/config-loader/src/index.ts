export {
  type AgentDefinition,
  defineAgent,
  type HooksInput,
  type LlmInput,
  type ManifestInput,
  type PolicyInput,
  type ToolInput,
} from './define-agent.js'
export type { Environment, EnvironmentOptions, WorkspaceEndpoint } from './environment.js'
export { loadEnvironment } from './environment.js'
export type { Hook, HookName, Hooks } from './hooks.js'
export type { Override } from './imports.js'
export type { Limits } from './limits.js'
export {
  type Agent,
  type LoadedAgent,
  type LoadOptions,
  loadAgent,
  type Snapshot,
} from './load-agent.js'
export { type LoadedTools, loadToolsFile } from './load-tools-file.js'
export {
  ConfigError,
  type ConfigErrorCode,
  type ConfigProblem,
  type ConfigWarning,
  formatReport,
  isConfigError,
} from './problems.js'
export { readPrices } from './read-prices.js'
export type { SnapshotSettings } from './snapshots.js'
