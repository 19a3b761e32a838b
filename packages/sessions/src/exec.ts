import { type CapturedOutput, createRedactor } from '@delta/executor/command'
import { collectState } from './collect.js'
import { noticeUnless, SessionError } from './errors.js'
import { type ExecOptions, prepareExecution, runExecution } from './execution.js'
import { removeWorkFiles } from './jobs.js'
import {
  bytesOf,
  type ExecResult,
  isAllThere,
  isUncut,
  notTextNotices,
  processResult,
  tidyOutputs,
} from './result.js'
import { existingSession, lockSession, recordCommand, type SessionPaths, writeMetadata } from './store.js'

/**
 * Runs one command where the last one left off, and remembers where it ends.
 *
 * Commands of one session wait for each other. Whatever the command does is a result: an exit code,
 * a syntax error, a timeout. Its state counts once it has ended by itself; a command that was killed,
 * or that replaced its shell, leaves the state as it was and a notice.
 *
 * @throws {SessionError} `ERR_SESSION_ID`, `ERR_SESSION_UNKNOWN`, `ERR_SESSION_DAMAGED`;
 *   `ERR_SESSION_COMMAND`: no process can be given this text; `ERR_SESSION_PROGRAM`: the shell is gone;
 *   `ERR_SESSION_ABORTED`: `signal` came before the command was started.
 */
export async function execInSession(id: string, command: string, options: ExecOptions): Promise<ExecResult> {
  return (await execute(id, command, options, isAllThere)).result
}

export interface Executed {
  result: ExecResult
  /** As it was printed; when it is long its two ends, as in the result. */
  stdout: Buffer
  stderr: Buffer
}

/** As `execInSession`, for a caller that passes bytes on: output that is not UTF-8 needs no file and no notice then. */
export function execForBytes(id: string, command: string, options: ExecOptions): Promise<Executed> {
  return execute(id, command, options, isUncut)
}

/** @param isWhole - Whether the caller gets all of an output without its file. */
async function execute(
  id: string,
  command: string,
  options: ExecOptions,
  isWhole: IsWhole,
): Promise<Executed> {
  if (command.includes('\0')) {
    throw new SessionError(
      'ERR_SESSION_COMMAND',
      'The command holds a NUL character, which no shell accepts.',
    )
  }
  const paths = existingSession(options.sessionsDirectory, id)
  const unlock = await lockSession(paths.lock, options.signal)
  return runLocked(paths, command, options, isWhole).finally(unlock)
}

type IsWhole = (output: CapturedOutput) => boolean

async function runLocked(
  paths: SessionPaths,
  command: string,
  options: ExecOptions,
  isWhole: IsWhole,
): Promise<Executed> {
  const started = new Date()
  const execution = await prepareExecution(paths, options)
  const { metadata, number, secrets } = execution
  const outcome = await runExecution(execution, command, options)
  const collected = await collectState(execution, outcome)
  const result: ExecResult = { ...processResult(outcome), ...collected.result }
  const redactor = createRedactor(secrets.values)
  const notices = [
    notTextNotices(outcome, isWhole),
    noticeUnless(() => removeWorkFiles(paths), 'Files this command worked with are still there'),
    tidyOutputs(outcome, { inUse: collected.leftRunning, isWhole, redactor }),
    noticeUnless(
      () =>
        writeMetadata(paths, {
          ...metadata,
          last_executed_at: started.toISOString(),
          execution_count: number,
          work_dir: result.work_dir,
          background_jobs: collected.jobs,
        }),
      'This command is not in metadata.json',
    ),
    noticeUnless(
      () => recordCommand(paths, { command: redactor.text(command), started, result }),
      'This command is not in history.log',
    ),
  ]
  return {
    result: withNotices(result, notices.flat()),
    stdout: bytesOf(outcome.stdout),
    stderr: bytesOf(outcome.stderr),
  }
}

function withNotices(result: ExecResult, more: readonly string[]): ExecResult {
  return more.length === 0 ? result : { ...result, notices: [...(result.notices ?? []), ...more] }
}
