// For the other packages of Delta: may change in any release.

export { isRepeated, isRequired, longFlag, valueType } from './compile.js'
export { statesNothing, trustOf } from './effects.js'
export { commandLine, indexLeaves } from './leaves.js'
export { type AtipImportOptions, importAtip } from './load.js'
export { brokenRules, policyProblem } from './policy.js'
export { truncate } from './result.js'
export { versionNotice } from './schema.js'
export { durationMs } from './tools.js'
