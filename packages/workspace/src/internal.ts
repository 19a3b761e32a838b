// For the command line: may change in any release.
export { explainSystemError } from './system-error.js'
