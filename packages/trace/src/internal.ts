// For the other packages of Delta: may change in any release.
export { childFinder } from './child-finder.js'
export { sumOf } from './cost-table.js'
export { withSubAgents } from './export/sub-agents.js'
export { followRun, mayBegin } from './follow-run.js'
export { recordedParts } from './recorded-parts.js'
export { readRecord } from './request-record.js'
