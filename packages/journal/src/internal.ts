// For the other packages of Delta: may change in any release.
export { newRunId } from './create-run.js'
export { asWriteError } from './errors.js'
export { createRecordFile, overwriteRecord, recordName } from './files.js'
export { foldRun } from './fold.js'
export { refuseLinkedRun } from './layout.js'
export { migratedDirectory } from './migrate.js'
export {
  blockedPathError,
  checkRunsDirectory,
  isInside,
  isRunOf,
  journalPath,
  realPath,
  runDirectory,
  workDirectoryOf,
} from './paths.js'
export { emptyRunError, latestRunId } from './read-runs.js'
export { openRecordedRequests, type RecordedRequests, readBody } from './requests.js'
export { verifyRun } from './verify-run.js'
