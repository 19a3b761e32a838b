import { closeSync, constants, openSync, writeFileSync } from 'node:fs'
import type { ExecResult } from '../result.js'
import type { SessionPaths } from './paths.js'

const { O_APPEND, O_CREAT, O_NONBLOCK, O_WRONLY } = constants

/** Adds one line of JSON to `history.log`: what was run (without the secrets in it), when, where, and how it ended. */
export function recordCommand(
  paths: SessionPaths,
  { command, started, result }: { command: string; started: Date; result: ExecResult },
): void {
  const line = JSON.stringify({
    time: started.toISOString(),
    command,
    exit_code: result.exit_code,
    execution_time_ms: result.execution_time_ms,
    work_dir: result.work_dir,
  })
  const descriptor = openSync(paths.history, O_APPEND | O_CREAT | O_WRONLY | O_NONBLOCK, 0o600) // a pipe would be waited for
  try {
    writeFileSync(descriptor, `${line}\n`)
  } finally {
    closeSync(descriptor)
  }
}
