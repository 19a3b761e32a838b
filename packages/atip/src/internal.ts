// For the other packages of Delta: may change in any release.

export { trustOf } from './effects.js'
export { commandLine, indexLeaves } from './leaves.js'
export { isRepeated, isRequired, longFlag, valueType } from './parameters.js'
export { policyProblem, rulesBroken } from './policy.js'
export { truncate } from './result.js'
export { durationMs } from './tools.js'
