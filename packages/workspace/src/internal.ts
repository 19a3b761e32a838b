// For the command line: may change in any release.
export { loadOptions } from './agent.js'
export { passedWithoutValue } from './credentials.js'
export { isCell } from './own-evaluations.js'
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
