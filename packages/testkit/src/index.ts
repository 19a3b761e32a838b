export { type TemporaryAgentOptions, temporaryAgent } from './agent.js'
export { findExportProblem } from './export-problem.js'
export { fixtures } from './fixtures.js'
export { findHistoryProblem } from './history.js'
export { areInstalled, canStart, containers, isPartThere, smallDisk, unseenProcesses } from './machine.js'
export {
  isAlive,
  type ProcessResult,
  runProcess,
  type StartedProcess,
  startProcess,
  waitForExit,
} from './process.js'
export { checkRecords, type RecordCheck } from './records.js'
export type { AnswerTurn, Fault, ScriptedTurn, ServerScript } from './script.js'
export { type ScriptedServer, startScriptedServer } from './scripted-server.js'
export { tryLimits, waitForFile } from './wait.js'
export { type TemporaryWorkspace, temporaryWorkspace } from './workspace.js'
