// For the other packages of Delta: may change in any release.
export {
  attemptOf,
  type CellOfRun,
  type CellPlace,
  cellAt,
  cellPlaceOf,
  cellReader,
  cellsIn,
  isEvaluation,
  nameOfCellAt,
  plannedIn,
  standingOf,
} from './cells.js'
export { newRunId } from './create-run.js'
export { asWriteError } from './errors.js'
export { isInherited } from './events.js'
export { LARGEST_TEXT_BYTES, readText } from './files.js'
export { foldRun } from './fold.js'
export { type Inherited, readBeginning } from './inherit.js'
export { inspectJournal } from './inspect.js'
export { blockedPathError, refuseLinkedRun } from './layout.js'
export { type AnswerWatch, type LostAnswer, watchAnswers } from './lost-answers.js'
export { migratedDirectory } from './migrate.js'
export {
  emptyRunError,
  isOfRun,
  latestRunId,
  nothingIfDeleted,
  readOwner,
  readRunThrough,
  runDirectoriesOf,
} from './read-runs.js'
export { recordName, recordsIn } from './records.js'
export {
  fromRanges,
  openRecordedRequests,
  type RecordedRequests,
  readBody,
  readParts,
} from './requests.js'
export { journalPath, runPaths } from './run-paths.js'
export { checkRunsDirectory, runDirectory } from './runs-directory.js'
export { addSpending, addUp, costOf, ownSpendingIn } from './totals.js'
export { verifyRun } from './verify-run.js'
export { isRunOf, readFirstOwn, workDirectoryOf } from './work-directory.js'
