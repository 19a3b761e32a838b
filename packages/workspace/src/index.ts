export { type AgentFlags, type OpenAgent, openAgent, type SetFlags } from './agent.js'
export { type Finding, findCredentials } from './credentials.js'
export { WorkspaceError } from './errors.js'
export { isOwnEvaluation, isOwnPlan, listEvaluation, listPlan } from './own-evaluations.js'
export {
  agentHomeOf,
  forkedRun,
  type Going,
  isOwnRun,
  type ListedRun,
  type ListRun,
  listingOwnRuns,
  ownRun,
  type TrustedRun,
  trustedRun,
} from './own-runs.js'
export { type Place, placeToLook, placeToWork, type RunsFlags, rememberPlace } from './place.js'
export type { Surroundings } from './surroundings.js'
