// For the other packages of Delta: may change in any release.

export { isRepeated, isRequired, longFlag, valueType } from './compile.js'
export { statesNothing, trustOf } from './effects.js'
export { commandLine, indexLeaves } from './leaves.js'
export { brokenRules, policyProblem } from './policy.js'
export { truncate } from './result.js'
export { durationMs } from './tools.js'
