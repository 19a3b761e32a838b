import { createHash, hash } from 'node:crypto'
import { mkdirSync, readdirSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { syncPath } from '@delta/durable'
import { isJournalError } from './errors.js'
import type { Position } from './event.js'
import { type Journal, openJournal } from './journal.js'
import { repairJournal } from './repair.js'
import { runPaths } from './paths.js'
import { createRecordFile, overwriteRecord } from './record-file.js'

/** What is about to be sent to a model. */
export interface Invocation {
  /** From 1; it becomes a part of the record's name. */
  iteration: number
  /** The body, as the object it will be made of. */
  request: object
  /** What the context says about where it came from; kept as it is. */
  blocks?: readonly object[] | undefined
}

/** A record that is on disk and waits for its response. */
export interface InvocationRecord {
  /** The record's path relative to the run directory; goes into `THOUGHT.llm_invocation_ref`. */
  ref: string
  /** The request as it was recorded, and as `readRequest` gives it back. */
  body: Buffer
  /** Adds what came back (response, usage, duration …) to the record. */
  complete(response: object): void
}

/**
 * Records what is about to be sent to a model, before it is sent.
 *
 * A message or a set of parameters that was sent before is not written again: the
 * record names lines of `io/parts.jsonl`. The first ten records of a run hold the
 * request whole besides.
 *
 * @throws {JournalError} `ERR_JOURNAL_WRITE`, `ERR_RUN_LOST`, `ERR_JOURNAL_CLOSED`.
 */
export function recordInvocation(
  run: { readonly requests: RequestLog },
  invocation: Invocation,
): InvocationRecord {
  return run.requests.record(invocation)
}

/** What a run sends to its model, written to `io/` before it is sent; see `recordInvocation`. */
export interface RequestLog {
  /** Writes the record of a request, before it is sent. */
  record(invocation: Invocation): InvocationRecord
  /** Makes all records with a response survive a power cut. The journal's `sync` does it first. */
  sync(): void
  /** Closes the log of parts; the run does it with its own `close`. */
  close(): void
}

interface RequestLogOptions {
  directory: string
  sync: boolean
  /** Called before a record is written; throws when this writer has lost the right to write. */
  fence: () => void
  onNotice: (notice: string) => void
}

const WHOLE_REQUESTS = 10

/** The records of what a run sent to its model. Opens its files when the first request is recorded. */
export function openRequestLog(options: RequestLogOptions): RequestLog {
  const { directory, fence } = options
  const paths = runPaths(directory)
  let parts: Parts | undefined
  let records = 0
  const unsynced = new Set<string>()

  function open(): Parts {
    mkdirSync(paths.invocations, { recursive: true, mode: 0o700 })
    records = readdirSync(paths.invocations).length
    return openParts(paths.parts, options)
  }

  function record({ iteration, request, blocks }: Invocation): InvocationRecord {
    fence()
    parts ??= open()
    const body = Buffer.from(JSON.stringify(request))
    const sha256 = createHash('sha256').update(body).digest('hex')
    records += 1
    const timestamp = new Date().toISOString()
    const fields = {
      iteration,
      timestamp,
      sha256,
      parts: linesOf(request, parts),
      blocks,
      ...(records <= WHOLE_REQUESTS ? { request } : { request_command: commandFor(directory, iteration) }),
    }
    const path = createRecordFile(paths.invocations, String(iteration), toText(fields))

    function complete(response: object): void {
      fence()
      overwriteRecord(path, toText({ ...fields, ...response }))
      unsynced.add(path)
    }

    return { ref: `io/invocations/${basename(path)}`, body, complete }
  }

  /** A record without its response is named by no event yet, and so are the parts it added. */
  function sync(): void {
    if (unsynced.size === 0) return
    parts?.sync()
    for (const path of unsynced) syncPath(path)
    syncPath(paths.invocations)
    unsynced.clear()
  }

  function close(): void {
    parts?.close()
  }

  return { record, sync, close }
}

function toText(record: object): string {
  return `${JSON.stringify(record)}\n`
}

/** Prints the request. For people: the record alone does not hold it. */
function commandFor(directory: string, iteration: number): string {
  const runs = dirname(directory)
  const place = basename(runs) === '.delta' ? ['-w', dirname(runs)] : ['--runs-dir', runs]
  const words = ['delta', 'show', basename(directory), '--request', String(iteration), ...place]
  return words.map(quoted).join(' ')
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** Takes a request apart: each message, and the rest of the request, becomes a line of the parts log unless one holds it already. */
function linesOf(
  request: { messages?: unknown },
  parts: Parts,
): { parameters: number; messages: Ranges | null } {
  const { messages } = request
  if (!Array.isArray(messages)) return { parameters: parts.lineOf('PARAMETERS', request), messages: null }
  const parameters = parts.lineOf('PARAMETERS', { ...request, messages: [] })
  const lines: Ranges = []
  for (const message of messages) addToRanges(lines, parts.lineOf('MESSAGE', message))
  return { parameters, messages: lines }
}

/** A line of `io/parts.jsonl`: one message, or one set of the other parameters, that was sent at least once. */
export interface PartEvent extends Position {
  type: 'MESSAGE' | 'PARAMETERS'
  part: unknown
}

/** The parts log, open for writing. */
interface Parts {
  /** The number of the line that holds this part; written when no line does yet. */
  lineOf(type: PartEvent['type'], part: unknown): number
  sync(): void
  close(): void
}

/** Knows each line by a digest, so that what is kept stays small whatever was sent. */
function openParts(path: string, options: RequestLogOptions): Parts {
  const lines = new Map<string, number>()
  const log = openPartsLog(path, options, ({ type, part, seq }) => {
    lines.set(hash('sha256', type + JSON.stringify(part), 'base64'), seq)
  })

  function lineOf(type: PartEvent['type'], part: unknown = null): number {
    const key = hash('sha256', type + JSON.stringify(part), 'base64')
    if (!lines.has(key)) log.append({ type, part })
    return lines.get(key) ?? log.lastSeq
  }

  return { lineOf, sync: log.sync, close: log.close }
}

/** A record, not the truth: a damaged line is set aside with a notice, and costs the requests it was part of, never the run. */
function openPartsLog(
  path: string,
  { sync, onNotice }: RequestLogOptions,
  onEvent: (event: PartEvent) => void,
): Journal<PartEvent> {
  const open = () => openJournal<PartEvent>(path, { sync, onEvent })
  try {
    return open()
  } catch (error) {
    if (!isJournalError(error) || error.code !== 'ERR_JOURNAL_CORRUPT') throw error
    onNotice(repairJournal(path).text)
    return open()
  }
}

/** Numbers in order as pairs of first and last: mostly one pair. */
export type Ranges = [number, number][]

/** Lengthens the last pair by its successor, or begins another. */
export function addToRanges(ranges: Ranges, number: number): void {
  const last = ranges.at(-1)
  if (last && number === last[1] + 1) last[1] = number
  else ranges.push([number, number])
}

export function fromRanges(ranges: readonly (readonly [number, number])[]): number[] {
  return ranges.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index),
  )
}
