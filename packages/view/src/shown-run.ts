import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { type CellOfRun, openTrace, type Trace } from '@delta/trace'
import {
  type EndedRun,
  type GrowingRun,
  growingRun,
  isKnownEvent,
  readEndedRun,
  recordedChildren,
  type StepReader,
  stateOfJournal,
  stepReader,
} from '@delta/trace/internal'
import type { RunRow } from './api.js'
import { type ColumnFold, columnFold } from './columns.js'
import { Refusal } from './errors.js'
import { linkOutOf } from './links.js'
import { cellOf, goneRow, rowOf, unreadRow } from './row.js'
import { unhurried } from './unhurried.js'

/** A run that is shown: its row, and what was read of it so far. */
export interface ShownRun {
  readonly key: string
  readonly directory: string
  readonly row: RunRow
  /** Grows whenever the row changes. */
  readonly version: number
  /** Brings the row up to date. A run that has ended costs little, one that is written only what was added. */
  refresh(): Promise<void>
  /** Reads its steps as they are now. @throws {Refusal} 404, 403 */
  reader(): StepReader
  /** Reads all of it, once, and then what was added. @throws {Refusal} */
  whole(): Promise<WholeRun>
}

/** A run whose journal was read to its end. */
export interface WholeRun {
  summary: Awaited<ReturnType<GrowingRun['summary']>>
  columns: ColumnFold
  /** Its steps let other work go on. */
  trace: Trace
}

/**
 * @param options.nextVersion - Called whenever the row has changed.
 * @param options.cellAt - Where a run stands in an evaluation. That changes when nothing is written to the run any more.
 */
export function shownRun(
  directory: string,
  options: {
    key: string
    nextVersion: () => number
    cellAt: (directory: string) => CellOfRun | undefined
  },
): ShownRun {
  const { key, nextVersion, cellAt } = options
  let row = unreadRow(basename(directory), key)
  let version = nextVersion()
  let state: string | undefined
  let watched: Watched | undefined
  let reading: { state: string | undefined; reader: StepReader } | undefined
  let opened: Trace | undefined
  let last: Promise<unknown> = Promise.resolve()

  /** One after the other: two readers of what was added would both take it. */
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = last.then(work)
    last = result.catch(() => undefined)
    return result
  }

  function show(next: RunRow): void {
    if (JSON.stringify(next) === JSON.stringify(row)) return
    row = next
    version = nextVersion()
  }

  function withCell(next: RunRow): RunRow {
    const cell = cellOf(cellAt(directory))
    return cell === undefined ? next : { ...next, cell }
  }

  async function refreshRow(): Promise<void> {
    if (!existsSync(directory)) return show(goneRow(row))
    const now = stateOfJournal(directory)
    const isOver = !['RUNNING', 'EMPTY', 'GONE'].includes(row.status) // an engine may end without writing a word
    if (now === state && isOver) return show(withCell(row))
    const link = linkOutOf(directory)
    if (link !== undefined)
      return show(unreadRow(basename(directory), key, `not read: ${link} is a link out of the run`))
    const ended = watched === undefined && now !== state ? await readEndedRun(directory) : undefined
    if (ended) show(withCell(rowOf(ended, key)))
    else await readOn()
    state = now
  }

  async function readOn(): Promise<Watched> {
    const identity = stateOfJournal(directory)?.split(' ')[0]
    if (watched?.identity !== identity) watched = undefined // it was replaced
    watched ??= watch(directory, identity)
    await watched.growing.read()
    watched.summary = await watched.growing.summary()
    show(withCell(rowOf({ ...watched.summary, start: watched.start() }, key)))
    return watched
  }

  function check(): void {
    if (row.status === 'GONE' || !existsSync(directory))
      throw new Refusal(404, 'The directory of this run was deleted.')
    const link = linkOutOf(directory)
    if (link !== undefined) throw new Refusal(403, `This run is not read: ${link} is a link out of it.`)
  }

  return {
    key,
    directory,
    get row() {
      return row
    },
    get version() {
      return version
    },
    refresh: () =>
      inTurn(refreshRow).catch((error: Error) =>
        show(unreadRow(basename(directory), key, `cannot be read: ${error.message}`)),
      ),
    reader() {
      check()
      const now = stateOfJournal(directory)
      if (reading === undefined || reading.state !== now)
        reading = {
          state: now,
          reader: stepReader({
            directory,
            lastSeq: Number.MAX_SAFE_INTEGER,
            model: row.models[0] ?? null,
            isKilled: row.reasonCode === 'killed',
            childrenOf: recordedChildren,
          }),
        }
      return reading.reader
    },
    whole: () =>
      inTurn(async () => {
        check()
        const { summary, columns } = await readOn()
        if (summary === undefined) throw new Refusal(404, 'This run cannot be read.')
        if (opened?.run.lastSeq !== summary.lastSeq || opened.run.status !== summary.status) {
          opened = await openTrace(summary)
          const { steps } = opened
          opened.steps = (range) => unhurried(steps(range))
        }
        return { summary, columns, trace: opened }
      }),
  }
}

interface Watched {
  /** The file that was read. */
  identity: string | undefined
  growing: GrowingRun
  columns: ColumnFold
  start(): EndedRun['start'] | undefined
  summary?: WholeRun['summary']
}

function watch(directory: string, identity: string | undefined): Watched {
  const columns = columnFold()
  let start: EndedRun['start'] | undefined
  const growing = growingRun(directory, {
    onEvent(event) {
      if (isKnownEvent(event) && event.type === 'ENGINE_START' && !event.inherited) start ??= event
      columns.add(event)
    },
  })
  return { identity, growing, columns, start: () => start }
}
