import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { basename, isAbsolute, join } from 'node:path'
import { getSystemErrorMap } from 'node:util'
import { readIfThere } from '@delta/durable'
import { type ActionResult, type Run, readRun } from '@delta/journal/runs'
import type { FinishedRun } from './outcome.js'
import type { RunState } from './run-state.js'

type ChildRun = NonNullable<ActionResult['child_runs']>[number]

/** A line of `tree.jsonl` in the topmost run: a run below it began or went on, or was let go. It says who belongs to whom. */
export type TreeLine =
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

/** The file that lists the runs below a topmost one. */
export function treePath(rootRun: string): string {
  return join(rootRun, 'tree.jsonl')
}

/** Why a run is not listed, so that those above will not count it. */
export interface Unlisted {
  path: string
  why: string
}

/** Lists a run that a command of another one started, for its caller to find. To be called once its `ENGINE_START` is synced. */
export function joinTree(run: Run, host: NodeJS.ProcessEnv): Unlisted | undefined {
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

function append(run: Run, host: NodeJS.ProcessEnv, line: TreeLine): Unlisted | undefined {
  const path = treePath(rootRunOf(run, host))
  const text = `${JSON.stringify(line)}\n`
  if (Buffer.byteLength(text) > LONGEST_LINE)
    return { path, why: `a line of more than ${LONGEST_LINE} bytes` }
  try {
    const file = openSync(path, APPEND, 0o600)
    try {
      writeSync(file, text)
    } finally {
      closeSync(file)
    }
    return undefined
  } catch (error) {
    return { path, why: systemWords(error) }
  }
}

/** `read-only file system`. */
function systemWords(error: unknown): string {
  const { errno = 0, message } = error as NodeJS.ErrnoException
  return getSystemErrorMap().get(errno)?.[1] ?? message
}

const { O_RDWR, O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
/** Whole beside other writers; not through a link that a tool put there. */
const APPEND = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK

/** The runs that a call started, as they stand now. */
export async function childRunsOf(
  { run, rootRun }: Pick<RunState, 'run' | 'rootRun'>,
  actionId: string,
): Promise<Pick<ActionResult, 'child_runs'>> {
  const lines = linesIn(textIn(treePath(rootRun)))
  const called = lines.flatMap((line) => {
    const isOurs =
      line.type === 'RUN' && line.caller.directory === run.directory && line.caller.action_id === actionId
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
function linesIn(text: string): TreeLine[] {
  return text.split('\n').flatMap((line) => {
    try {
      const value = Object(JSON.parse(line))
      const isLine = typeof value.run_id === 'string' && isAbsolute(value.directory)
      return isLine && (value.type !== 'RUN' || isObject(value.caller)) ? [value] : []
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

/**
 * Reads a `tree.jsonl`, each time the lines that were added.
 *
 * @throws {Uncountable} The file became shorter, vanished, cannot be read or written, or holds anything else. The end of a run
 *   whose beginning is not there tells that it vanished before it was first read.
 */
export function treeReader(path: string) {
  let offset = 0
  const begun = new Set<string>()

  function readOn(): TreeLine[] {
    const text = textBehind(offset, path)
    const whole = text.subarray(0, text.lastIndexOf('\n') + 1).toString()
    const lines = linesIn(whole)
    if (lines.length < whole.split('\n').length - 1)
      throw new Uncountable(`${path} has a line that no run wrote.`)
    for (const { type, directory } of lines) {
      if (type === 'RUN') begun.add(directory)
      else if (!begun.has(directory)) throw new Uncountable(`${path} does not say who called ${directory}.`)
    }
    offset += Buffer.byteLength(whole)
    return lines
  }

  return { readOn }
}

/** What the runs of a tree spend can no longer be counted. The message is a sentence that says why. */
export class Uncountable extends Error {
  override readonly name = 'Uncountable'
}

/** Without a sub-agent there is no such file; nobody makes an empty one. */
function textBehind(offset: number, path: string): Buffer {
  const file = openIfThere(path)
  if (file === undefined && offset === 0) return Buffer.alloc(0)
  if (file === undefined) throw new Uncountable(`${path} is gone.`)
  try {
    const { size } = fstatSync(file)
    if (size === 0 || size < offset) throw new Uncountable(`${path} is shorter than before.`)
    if (size > MOST_BYTES) throw new Uncountable(`${path} is longer than ${MOST_BYTES} bytes.`)
    const text = Buffer.alloc(size - offset)
    return text.subarray(0, readSync(file, text, 0, text.length, offset))
  } catch (cause) {
    throw Object(cause).syscall ? unreadable(path, cause) : cause
  } finally {
    closeSync(file)
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK) // where nobody can write, no further run is counted
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unreadable(path, cause)
  }
}

function unreadable(path: string, cause: unknown): Uncountable {
  return new Uncountable(`cannot read and write ${path} (${systemWords(cause)}).`, { cause })
}
