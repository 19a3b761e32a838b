// For the other packages of Delta: may change in any release.
export { DEFAULT_CONTEXT_YAML } from './context.js'
export { AGENT_DEFAULTS } from './load-agent.js'
export { formatProblem } from './problems.js'
export { listSettings, type Setting } from './settings.js'
