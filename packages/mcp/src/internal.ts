// For the other packages of Delta: may change in any release.
export { callInRun } from './call-in-run.js'
export { keepServer } from './keep-server.js'
export { type KeepRequest, liveRun, type Start } from './run-server.js'
