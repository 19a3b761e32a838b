export {
  type AgentFlags,
  allowedBy,
  loadOptions,
  type OpenAgent,
  openAgent,
  openAgentOf,
  overridesIn,
  overridesOf,
  type SetFlags,
  saidOf,
  withAllowed,
} from './agent.js'
export { type Finding, findCredentials, passedWithoutValue } from './credentials.js'
export { WorkspaceError } from './errors.js'
export {
  agentHomeOf,
  isOwnRun,
  type ListRun,
  listingOwnRuns,
  ownRun,
  type Said,
  type TrustedRun,
  trustedRun,
} from './own-runs.js'
export {
  commandAt,
  commandToContinue,
  danglingLink,
  existingWorkDirectory,
  namedDirectory,
  type Place,
  placeInWords,
  placeOfRun,
  placeToLook,
  placeToWork,
  type RunsFlags,
  rememberedRuns,
  rememberPlace,
  typedWorkDirectory,
} from './place.js'
export { isWithinRun, type Surroundings } from './surroundings.js'
