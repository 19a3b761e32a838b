export { classify, type Ended, type Scored, type Tampering } from './classify.js'
export { type EvalCommands, evalCommands } from './commands.js'
export { EvaluationError, type EvaluationErrorCode, isEvaluationError } from './errors.js'
export { type Planned, planEval } from './plan.js'
export {
  type Evaluation,
  type FindRuns,
  type ForkedRun,
  readEval,
  type Task,
  type Variant,
} from './read-eval.js'
export {
  type Estimate,
  type EvalReport,
  type ReportedPair,
  type ReportedVariant,
  type ReportOptions,
  report,
  reportOfScores,
} from './report.js'
export type { Score } from './report-cells.js'
export { reportCsv, scoresInCsv } from './report-csv.js'
export { reportHtml } from './report-html.js'
export { reportText } from './report-text.js'
export { cellFilter, nameOfCell, type Retrying, retryCells } from './retry.js'
export { type Subject, scoreCell } from './score.js'
export {
  type CellStatus,
  type EvalStatus,
  evalStatus,
  isOfEvalFile,
  results,
  type Standing,
} from './status.js'
export { hasSourceChanged, planOf, readPlan } from './stored.js'
export type {
  Cell,
  CellLimits,
  CellResult,
  CellState,
  Plan,
  PlannedTask,
  PlannedVariant,
  Scorer,
  Verdict,
} from './types.js'
export { type Change, type WorkOptions, work } from './work.js'
