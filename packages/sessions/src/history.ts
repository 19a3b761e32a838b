import { appendFileSync } from 'node:fs'
import type { SessionPaths } from './paths.js'
import type { ExecResult } from './result.js'

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
  appendFileSync(paths.history, `${line}\n`, { mode: 0o600 })
}
