// For the other packages of Delta: may change in any release.
export {
  answerAmong,
  type BrokenRule,
  brokenRules,
  COST_ESTIMATES,
  type Constant,
  DEFAULT_RULES,
  effectsSchema,
  isInteractive,
  type PolicyReason,
  STDIN_USES,
  TRUST_LEVELS,
  withAnswers,
} from './policy.js'
export { toolSchemas } from './schema.js'
export { REDACTED, redactPatterns, SECRET_PATTERNS } from './secrets.js'
export { withToolHome } from './tool-home.js'
export { SCHEMA_WORDS } from './values.js'
