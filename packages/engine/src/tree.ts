import { closeSync, constants, openSync, writeSync } from 'node:fs'
import { basename, isAbsolute, join } from 'node:path'
import { readIfThere } from '@delta/durable'
import { type ActionResult, type Run, readRun } from '@delta/journal/runs'
import type { FinishedRun } from './outcome.js'
import type { RunState } from './run-state.js'

type ChildRun = NonNullable<ActionResult['child_runs']>[number]

/** A line of `tree.jsonl` in the topmost run: a run below it began or went on, or was let go. It says who belongs to whom. */
type TreeLine =
  | {
      type: 'RUN'
      run_id: string
      directory: string
      caller: { directory: string; action_id: string | null }
    }
  | { type: 'END'; run_id: string; directory: string; status: unknown; reason_code: unknown; totals: unknown }

/** The directory of the run above all others, which a command of this run hands on. */
export function rootRunOf(run: { directory: string }, host: NodeJS.ProcessEnv): string {
  return host.DELTA_PARENT_RUN ? host.DELTA_ROOT_RUN || host.DELTA_PARENT_RUN : run.directory
}

/**
 * Lists a run that a command of another one started, for its caller to find. To be called once its `ENGINE_START` is synced.
 *
 * @returns Why the caller will not count it, if it cannot be listed.
 */
export function joinTree(run: Run, host: NodeJS.ProcessEnv): string | undefined {
  const { DELTA_PARENT_RUN: directory, DELTA_ACTION_ID: actionId } = host
  if (!directory) return undefined
  const caller = { directory, action_id: actionId || null }
  return append(run, host, { type: 'RUN', run_id: run.runId, directory: run.directory, caller })
}

/** Says how such a run ended. After a kill in between, its journal says it. */
export function leaveTree(
  run: Run,
  host: NodeJS.ProcessEnv,
  { status, reasonCode, totals }: FinishedRun,
): void {
  if (!host.DELTA_PARENT_RUN) return
  const about = { run_id: run.runId, directory: run.directory, status, reason_code: reasonCode }
  append(run, host, { type: 'END', ...about, totals: { ...totals } })
}

/** A longer line might be mixed with another one's. Bytes. */
const LONGEST_LINE = 4096

function append(run: Run, host: NodeJS.ProcessEnv, line: TreeLine): string | undefined {
  const path = join(rootRunOf(run, host), 'tree.jsonl')
  const text = `${JSON.stringify(line)}\n`
  if (Buffer.byteLength(text) > LONGEST_LINE) return undefined // the journal says it, too
  try {
    const file = openSync(path, APPEND, 0o600)
    try {
      writeSync(file, text)
    } finally {
      closeSync(file)
    }
    return undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return `The run that started this one does not count what it costs: ${path} cannot be written (${code}).`
  }
}

const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
/** Whole beside other writers; not through a link that a tool put there. */
const APPEND = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK

/** The runs that a call started, as they stand now. */
export async function childRunsOf(
  { run, rootRun }: Pick<RunState, 'run' | 'rootRun'>,
  actionId: string,
): Promise<Pick<ActionResult, 'child_runs'>> {
  const lines = linesIn(join(rootRun, 'tree.jsonl'))
  const called = lines.flatMap((line) => {
    const isOurs =
      line.type === 'RUN' && line.caller?.directory === run.directory && line.caller.action_id === actionId
    return isOurs ? [line.directory] : []
  })
  const children = [...new Set(called)].map(async (directory): Promise<ChildRun> => {
    const last = lines.findLast((line) => line.directory === directory)
    return last?.type === 'END' ? fromEnd(last) : fromJournal(directory)
  })
  return children.length > 0 ? { child_runs: await Promise.all(children) } : {}
}

function fromEnd({ run_id, directory, ...said }: TreeLine & { type: 'END' }): ChildRun {
  const [status, reason_code] = [said.status, said.reason_code].map((each) =>
    typeof each === 'string' ? each : null,
  )
  const totals = isObject(said.totals) ? said.totals : null
  return { run_id, directory, status, reason_code, totals }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value === Object(value) && !Array.isArray(value)
}

/** Reads what a run has spent that still goes on, or was killed. */
async function fromJournal(directory: string): Promise<ChildRun> {
  const about = { run_id: basename(directory), directory }
  try {
    const { status, metadata, totals } = await readRun(directory, { tolerant: true })
    return { ...about, status, reason_code: metadata.reason_code, totals: { ...totals } }
  } catch {
    return { ...about, status: null, reason_code: null, totals: null } // it is gone
  }
}

/** Whole lines that name a run; a tool may have written anything else there. */
function linesIn(path: string): TreeLine[] {
  return textIn(path)
    .split('\n')
    .flatMap((line) => {
      try {
        const value = Object(JSON.parse(line))
        const isLine = typeof value.run_id === 'string' && isAbsolute(value.directory)
        return isLine ? [value] : []
      } catch {
        return []
      }
    })
}

/** A tree of a hundred thousand runs has fewer. */
const MOST_BYTES = 64 * 1024 * 1024

function textIn(path: string): string {
  try {
    return readIfThere(path, { mostBytes: MOST_BYTES })?.toString() ?? ''
  } catch {
    return '' // a tool put something else there
  }
}
