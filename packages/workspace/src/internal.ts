// For the other packages of Delta: may change in any release.
export { loadOptions } from './agent.js'
export { passedWithoutValue } from './credentials.js'
export { agentOfCell, isCell, type PlannedAgent, refuseCell, withSeed } from './own-evaluations.js'
export {
  commandAt,
  commandToContinue,
  danglingLink,
  existingWorkDirectory,
  namedDirectory,
  placeInWords,
  placeOfRun,
  typedWorkDirectory,
} from './place.js'
export { isWithinRun } from './surroundings.js'
export { explainSystemError } from './system-error.js'
