// For the other packages of Delta: may change in any release.
export { isInside } from '@delta/durable/internal'
export {
  CREDENTIALS,
  type Credentials,
  credentialsAbove,
  exportedIn,
  keyNamesOf,
  type Origin,
  type Pair,
  secretValues,
} from './credentials.js'
export { renderDisplay } from './display.js'
export { isAgentCommand, SERVER_SANDBOX } from './environment.js'
export { isTooDeep } from './json-limits.js'
export { mediaOf } from './media.js'
export { patternBudget } from './pattern-budget.js'
export { decide, type PolicyDecision, policySchema } from './policy.js'
export { showControls, showUnseen } from './quote.js'
export { redactFile } from './redact.js'
export { settingsSchema } from './tool-settings.js'
