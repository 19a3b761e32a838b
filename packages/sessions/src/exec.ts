import { rmSync } from 'node:fs'
import type { CommandOutcome } from '@delta/executor/command'
import { collectState } from './collect.js'
import { secretValues } from './environment.js'
import { SessionError } from './errors.js'
import { type ExecOptions, prepareExecution, runExecution } from './execution.js'
import { recordCommand } from './history.js'
import { lockSession } from './lock.js'
import { writeMetadata } from './metadata.js'
import { existingSession, type SessionPaths } from './paths.js'
import { type ExecResult, processResult } from './result.js'
import { removeWorkDirectory } from './work.js'

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
  if (command.includes('\0')) {
    throw new SessionError(
      'ERR_SESSION_COMMAND',
      'The command holds a NUL character, which no shell accepts.',
    )
  }
  const paths = existingSession(options.sessionsDirectory, id)
  const unlock = await lockSession(paths.lock, options.signal)
  try {
    return await runLocked(paths, command, options)
  } finally {
    unlock()
  }
}

async function runLocked(paths: SessionPaths, command: string, options: ExecOptions): Promise<ExecResult> {
  const started = new Date()
  const execution = await prepareExecution(paths, options)
  const { metadata, caller, number, work } = execution
  const outcome = await runExecution(execution, command, options)
  const collected = await collectState(execution, outcome)
  const result: ExecResult = { ...processResult(outcome), ...collected.result }
  removeWorkDirectory(work)
  tidyOutputs(outcome, collected.leftRunning)
  writeMetadata(paths, {
    ...metadata,
    last_executed_at: started.toISOString(),
    execution_count: number,
    work_dir: result.work_dir,
    background_jobs: collected.jobs,
  })
  const secrets = secretValues(caller, metadata.secret_names)
  recordCommand(paths, { command, started, result, secrets })
  return result
}

/** Outputs that are whole in the result need no file, unless something still writes to it. */
function tidyOutputs({ stdout, stderr }: CommandOutcome, inUse: boolean): void {
  for (const { path, omittedBytes } of [stdout, stderr]) {
    if (path !== undefined && omittedBytes === 0 && !inUse) rmSync(path, { force: true })
  }
}
