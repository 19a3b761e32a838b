// For the other packages of Delta: may change in any release.
export { isAnswerTo } from './answer.js'
export { hasResponse } from './ask-human.js'
export { refuseReadOnly } from './continue-run.js'
export { findAgentHome, shortName } from './find-run.js'
export { changesInWords, changesSince } from './kept.js'
export { credentialsFor, parentRun } from './options.js'
export { needsNewRun, raised, retryOf } from './outcome.js'
export { ENGINE_VERSION } from './version.js'
