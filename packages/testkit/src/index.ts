export { MINIMAL_CONTEXT, type TemporaryAgentOptions, temporaryAgent } from './agent.js'
export { fixtures } from './fixtures.js'
export { findHistoryProblem, type HistoryProblem } from './history.js'
export {
  areInstalled,
  canStart,
  containers,
  isPartThere,
  type SmallDisk,
  smallDisk,
  unseenProcesses,
} from './machine.js'
export {
  isAlive,
  type ProcessOptions,
  type ProcessResult,
  runProcess,
  type StartedProcess,
  startProcess,
  waitForExit,
} from './process.js'
export { checkRecords, type RecordCheck } from './records.js'
export type { AnswerTurn, Fault, FaultName, ScriptedCall, ScriptedTurn, ServerScript } from './script.js'
export { type LoggedRequest, type ScriptedServer, startScriptedServer } from './scripted-server.js'
export { type Condition, tryLimits, type WaitOptions, waitForFile } from './wait.js'
export { type TemporaryWorkspace, temporaryWorkspace, type WorkspaceOptions } from './workspace.js'
