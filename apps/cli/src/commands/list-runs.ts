import { resolve } from 'node:path'
import { listRuns, type RunSummary } from '@delta/journal'
import { printable } from '../present/printable.js'
import type { Terminal } from '../terminal.js'

/** `delta list-runs`: the runs of a workspace, newest first. */
export async function execute(
  flags: { workDir: string; json?: boolean },
  terminal: Terminal,
): Promise<number> {
  const runs = await listRuns(resolve(terminal.cwd, flags.workDir))
  const text = flags.json
    ? JSON.stringify(
        runs.map((run) => run.metadata),
        null,
        2,
      )
    : runs.map(row).join('\n')
  if (runs.length > 0 || flags.json) terminal.stdout.write(`${text}\n`)
  else terminal.stderr.write(`No runs in ${resolve(terminal.cwd, flags.workDir)}\n`)
  return 0
}

function row({ runId, status, lastIteration, metadata }: RunSummary): string {
  const task = printable((metadata.initial_message ?? '').split('\n')[0] ?? '').slice(0, 60)
  return `${runId}  ${status.padEnd(17)}  ${String(lastIteration).padStart(3)} cycles  ${task}`
}
