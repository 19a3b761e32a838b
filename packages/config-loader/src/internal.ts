// For the other packages of Delta: may change in any release.
export { changedKeys } from './changed-keys.js'
export { columnsOf } from './columns.js'
export { liesInParentRun } from './guards.js'
export { limitsIn, wallTimeInWords } from './limits.js'
export { AGENT_DEFAULTS } from './load-agent.js'
export { SERVER_KEYS } from './main-file.js'
export { formatProblem } from './problems.js'
