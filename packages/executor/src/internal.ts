// For the other packages of Delta: may change in any release.
export { isInside } from '@delta/durable/internal'
export {
  CREDENTIAL_NAMES,
  credentialsOf,
  isAgentCommand,
  isKeyOfOther,
  keyNames,
  ownerOfKey,
  PROVIDER_KEYS,
  secretValues,
} from './environment.js'
export { runPrepared } from './execute-tool.js'
export {
  fitShape,
  formatPath,
  inCamelCase,
  nearestNames,
  type ShapeProblem,
  showValue,
  type ValuePath,
  valueAt,
} from './fit-shape.js'
export { mediaOf } from './media.js'
export {
  endOrphans,
  findOrphans,
  isRunning,
  type OrphanQuery,
  type ProcessRecord,
  readProcessRecord,
  recordProcess,
} from './orphans.js'
export {
  COST_ESTIMATES,
  DEFAULT_RULES,
  decide,
  effectsSchema,
  type PolicyDecision,
  policySchema,
  TRUST_LEVELS,
  withAnswers,
} from './policy.js'
export {
  type CallContext,
  isTooDeep,
  limitedMatcher,
  mayNeedApproval,
  type PatternBudget,
  type PreparedCall,
  patternBudget,
  prepareCall,
  type RefusedCall,
} from './prepare-call.js'
export { columnsOf, quoteForPerson, showControls } from './quote.js'
export { REDACTED, redactFile, redactPatterns, SECRET_PATTERNS } from './redact.js'
export {
  DEFAULT_SETTINGS,
  DEFAULT_TOOL_TIMEOUT_MS,
  findDisplayProblems,
  interruptPolicy,
  type ParsedSettings,
  renderDisplay,
  safeParseToolSettings,
  settingsSchema,
} from './tool.js'
export { interruptedResult, removeInlined } from './tool-result.js'
export { findUnreplaced, type Unreplaced } from './unreplaced.js'
