export { MINIMAL_CONTEXT, type TemporaryAgentOptions, temporaryAgent } from './agent.js'
export { canStart, containers, unseenProcesses } from './containers.js'
export { fixtures } from './fixtures.js'
export { type ForeignErrorsOptions, foreignErrors } from './foreign-errors.js'
export { findHistoryProblem, type HistoryProblem } from './history.js'
export { areInstalled, isPartThere } from './installed.js'
export { tryLimits } from './limits.js'
export {
  isAlive,
  type ProcessOptions,
  type ProcessResult,
  runProcess,
  type StartedProcess,
  startProcess,
  waitForExit,
} from './process.js'
export type { AnswerTurn, Fault, FaultName, ScriptedCall, ScriptedTurn, ServerScript } from './script.js'
export { type LoggedRequest, type ScriptedServer, startScriptedServer } from './scripted-server.js'
export { type SmallDisk, smallDisk } from './small-disk.js'
export { type Condition, type WaitOptions, waitForFile } from './wait.js'
export { type TemporaryWorkspace, temporaryWorkspace, type WorkspaceOptions } from './workspace.js'
