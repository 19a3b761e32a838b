import { hash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import * as z from 'zod/mini'
import { needsNames, withBlobs, withoutBlobs } from './body-blobs.js'
import { isJournalError, JournalError } from './errors.js'
import type { Position } from './event.js'
import { isKnownEvent } from './events.js'
import { readText } from './files.js'
import { inspectJournal } from './inspect.js'
import { type Journal, openJournal } from './journal.js'
import { runEventSchema } from './old-formats.js'
import { streamJournal } from './read.js'
import { notFound } from './read-runs.js'
import { completeRecord, createRecord, iterationOf, readRecord, recordsIn } from './records.js'
import { journalPath, runPaths } from './run-paths.js'
import { repairJournal } from './verify.js'

/** What is about to be sent to a model. */
export interface Invocation {
  /** From 1; it becomes a part of the record's name. */
  iteration: number
  /** The body, as the object it will be made of. */
  request: object
  /** The field of the body that holds the conversation. Default `messages`. */
  list?: string | undefined
  /** The blobs of the run that are in the body, as base64. */
  blobs?: readonly string[] | undefined
  /** What the context says about where it came from; kept as it is. */
  blocks?: readonly object[] | undefined
  /** Further fields of the record: how it is sent, what was left out. */
  about?: object | undefined
  /** The JSON of a value of the body and its SHA-256, where a caller has them: messages come again in each request. */
  jsonOf?: JsonOf | undefined
}

/** `JSON.stringify` as in a list, and the SHA-256 of that in hexadecimal. */
export type JsonOf = (value: unknown) => { json: string; sha256: string }

/** A record that is on disk and waits for its response. */
export interface InvocationRecord {
  /** The record's path relative to the run directory; goes into `THOUGHT.llm_invocation_ref`. */
  ref: string
  /** The request as it was recorded, and as `readRequest` gives it back. */
  body: Buffer
  /** The length of the body in bytes, without the blobs in it. */
  bytesWithoutBlobs: number
  /** Adds what came back (response, usage, duration …) to the record, unless the disk is full. Not synced. */
  complete(response: object): void
}

/**
 * What a run sends to its model, written to `io/` before it is sent. It survives the death of the process at any instant.
 *
 * The records are evidence: a run goes on without them, because the answer of the model is in its `THOUGHT`. So they are not
 * synced, and a power cut may take those of the last seconds. The log of parts is synced: a line that was lost would give its
 * number to another message, and an earlier record that names the number would tell of a request that was never sent.
 */
export interface RequestLog {
  /**
   * Records what is about to be sent to a model, before it is sent.
   *
   * A message or a set of parameters that was sent before is not written again: the
   * record names lines of `io/parts.jsonl`. The first ten records of a run hold the
   * request whole besides.
   *
   * @throws {JournalError} `ERR_JOURNAL_WRITE`, `ERR_RUN_LOST`, `ERR_JOURNAL_CLOSED`.
   */
  record(invocation: Invocation): InvocationRecord
  /** Makes the log of parts survive a power cut. The journal's `sync` does it first. */
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

  function open(): Parts {
    records = readdirSync(paths.invocations).length
    return openParts(paths.parts, options)
  }

  function record(invocation: Invocation): InvocationRecord {
    const { iteration, request, list = 'messages', blobs = [], blocks, about, jsonOf = newJson } = invocation
    fence()
    parts ??= open()
    const sent = takeApart(request, list, jsonOf)
    const body = Buffer.from(sent.text)
    const kept = needsNames(sent.text, blobs) ? withoutBlobs(request, directory, blobs) : request
    const stored = kept === request ? sent : takeApart(kept, list, newJson)
    records += 1
    const timestamp = new Date().toISOString()
    const fields = {
      iteration,
      timestamp,
      sha256: hash('sha256', body),
      ...about,
      parts: linesOf(stored, list, parts),
      ...(blobs.length > 0 && { blobs }),
      blocks,
      ...(records <= WHOLE_REQUESTS && { request: kept }),
    }
    const path = createRecord(paths.invocations, String(iteration), `${JSON.stringify(fields)}\n`)

    function complete(response: object): void {
      fence()
      completeRecord(path, `${JSON.stringify({ ...fields, ...response })}\n`)
    }

    const bytesWithoutBlobs = blobs.length === 0 ? body.length : Buffer.byteLength(stored.text)
    return { ref: `io/invocations/${basename(path)}`, body, bytesWithoutBlobs, complete }
  }

  function sync(): void {
    parts?.sync()
  }

  function close(): void {
    parts?.close()
  }

  return { record, sync, close }
}

/** A body as JSON, and what it is made of. */
interface BodyTexts {
  text: string
  /** The body with an empty conversation. */
  parameters: object
  sha256: string
  /** Null for a body without a conversation. */
  messages: { parts: readonly unknown[]; texts: ReturnType<JsonOf>[] } | null
}

function newJson(value: unknown): ReturnType<JsonOf> {
  const json = JSON.stringify(value) ?? 'null'
  return { json, sha256: hash('sha256', json) }
}

/** Makes the JSON of a body from that of its values: the same bytes as `JSON.stringify(request)`. */
function takeApart(request: object, list: string, jsonOf: JsonOf): BodyTexts {
  const conversation: unknown = Object(request)[list]
  if (!Array.isArray(conversation)) {
    const { json: text, sha256 } = newJson(request)
    return { text, parameters: request, sha256, messages: null }
  }
  const texts = conversation.map((message: unknown) => jsonOf(message))
  const entries = Object.entries(request)
  const at = entries.findIndex(([name]) => name === list)
  const before = fieldsOf(entries.slice(0, at), jsonOf)
  const after = fieldsOf(entries.slice(at + 1), jsonOf)
  const bodyOf = (listed: string) =>
    `{${before}${before && ','}${JSON.stringify(list)}:${listed}${after && ','}${after}}`
  return {
    text: bodyOf(`[${texts.map(({ json }) => json).join(',')}]`),
    parameters: { ...request, [list]: [] },
    sha256: hash('sha256', bodyOf('[]')),
    messages: { parts: conversation, texts },
  }
}

function fieldsOf(entries: readonly [string, unknown][], jsonOf: JsonOf): string {
  const fields = entries.flatMap(([name, value]) => {
    const json = typeof value === 'object' ? jsonOf(value).json : JSON.stringify(value)
    return json === undefined ? [] : `${JSON.stringify(name)}:${json}` // a function, say
  })
  return fields.join(',')
}

/** Each message, and the rest of the body, becomes a line of the parts log unless one holds it already. */
function linesOf(
  { parameters, sha256, messages }: BodyTexts,
  list: string,
  parts: Parts,
): { parameters: number; messages: Ranges | null; list?: string } {
  const line = parts.lineOf('PARAMETERS', parameters, sha256)
  if (messages === null) return { parameters: line, messages }
  const lines: Ranges = []
  messages.texts.forEach((text, index) => {
    addToRanges(lines, parts.lineOf('MESSAGE', messages.parts[index], text.sha256))
  })
  return { parameters: line, messages: lines, ...(list !== 'messages' && { list }) }
}

/** A line of `io/parts.jsonl`: one message, or one set of the other parameters, that was sent at least once. */
interface PartEvent extends Position {
  type: 'MESSAGE' | 'PARAMETERS'
  part: unknown
}

type Parts = ReturnType<typeof openParts>

/**
 * Knows each line by a digest, so that what is kept stays small whatever was sent. The log is a record, not the truth: a
 * damaged line is set aside with a notice, and costs the requests it was part of, never the run.
 */
function openParts(path: string, { sync, onNotice }: RequestLogOptions) {
  const messages = new Map<string, number>()
  const parameters = new Map<string, number>()
  const linesOf = (type: PartEvent['type']) => (type === 'MESSAGE' ? messages : parameters)
  const onEvent = ({ type, part, seq }: PartEvent) => linesOf(type).set(newJson(part).sha256, seq)
  const log = openOrRepair()

  function openOrRepair(): Journal<PartEvent> {
    try {
      return openJournal<PartEvent>(path, { sync, onEvent })
    } catch (error) {
      if (!isJournalError(error) || error.code !== 'ERR_JOURNAL_CORRUPT') throw error
      onNotice(repairJournal(path).text)
      return openJournal<PartEvent>(path, { sync, onEvent })
    }
  }

  /** The number of the line that holds this part; written when no line does yet. */
  function lineOf(type: PartEvent['type'], part: unknown, sha256: string): number {
    const lines = linesOf(type)
    if (!lines.has(sha256)) log.append({ type, part: part ?? null })
    return lines.get(sha256) ?? log.lastSeq
  }

  return { lineOf, sync: log.sync, close: log.close }
}

/** Numbers in order as pairs of first and last: mostly one pair. */
type Ranges = [number, number][]

/** Lengthens the last pair by its successor, or begins another. */
function addToRanges(ranges: Ranges, number: number): void {
  const last = ranges.at(-1)
  if (last && number === last[1] + 1) last[1] = number
  else ranges.push([number, number])
}

/** The numbers of the lines that pairs of first and last name. */
export function fromRanges(ranges: readonly (readonly [number, number])[]): number[] {
  return ranges.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index),
  )
}

/** A tool may have written a range that no memory holds. */
const MOST_MESSAGES = 1e6

function countIn(ranges: readonly (readonly [number, number])[]): number {
  return ranges.reduce((sum, [first, last]) => sum + Math.max(0, last - first) + 1, 0)
}

/** What a reader needs of `io/invocations/<name>.json`: which lines of `io/parts.jsonl` the request is made of. */
const recordSchema = z.object({
  sha256: z.string(),
  request: z.optional(z.unknown()),
  parts: z.object({
    parameters: z.int(),
    messages: z.nullable(
      z.array(z.tuple([z.int(), z.int()])).check(z.refine((ranges) => countIn(ranges) <= MOST_MESSAGES)),
    ),
    /** Default `messages`. */
    list: z.optional(z.string()),
  }),
  wire: z.optional(z.object({ api: z.string() })),
  blocks: z.optional(z.array(z.unknown())),
  blobs: z.optional(z.array(z.string())),
})

type RequestRecord = z.infer<typeof recordSchema>

/**
 * The body of the last request of an iteration, byte for byte as it was sent.
 * A run that an older version recorded has the text in a `request.json`.
 *
 * @throws {JournalError} `ERR_REQUEST_NOT_FOUND`: the iteration has no record.
 *   `ERR_REQUEST_CORRUPT`: its parts do not add up to what was sent.
 */
export async function readRequest(runDirectory: string, iteration: number): Promise<string> {
  const paths = runPaths(runDirectory)
  const name = recordsIn(paths.invocations).findLast((each) => iterationOf(each) === iteration)
  return name === undefined ? await readOldRequest(runDirectory, iteration) : readBody(runDirectory, name)
}

/**
 * The body of the request that a record in `io/invocations/` tells of, byte for byte as it was sent.
 *
 * @throws {JournalError} `ERR_REQUEST_CORRUPT`
 */
export function readBody(runDirectory: string, recordName: string): string {
  const paths = runPaths(runDirectory)
  const path = join(paths.invocations, recordName)
  const { data: record } = recordSchema.safeParse(readRecord(path))
  if (!record) throw corruptRequest(path, 'The record is not whole.')
  const kept = record.request ?? rebuilt(record.parts, readParts(paths.parts))
  const body = JSON.stringify(withBlobs(kept, runDirectory, new Set(record.blobs)))
  if (hash('sha256', body) === record.sha256) return body
  throw corruptRequest(
    path,
    'The request cannot be given back as it was sent: the recorded parts do not have its SHA-256.',
  )
}

function rebuilt(
  { parameters, messages, list = 'messages' }: RequestRecord['parts'],
  parts: Map<number, unknown>,
): object {
  const all = messages && fromRanges(messages).map((line) => parts.get(line))
  return { ...Object(parts.get(parameters)), ...(all && { [list]: all }) }
}

/** Older versions kept each request whole, in a directory that the THOUGHT names. */
async function readOldRequest(runDirectory: string, iteration: number): Promise<string> {
  const { invocations } = runPaths(runDirectory)
  const recorded = recordsIn(invocations).map(iterationOf)
  for await (const event of streamJournal(journalPath(runDirectory), { schema: runEventSchema })) {
    if (!isKnownEvent(event) || event.type !== 'THOUGHT') continue
    const path = join(runDirectory, event.llm_invocation_ref ?? '', 'request.json')
    if (!existsSync(path)) continue
    if (event.iteration === iteration) return readText(path)
    recorded.push(event.iteration)
  }
  const reason = `No request of iteration ${iteration} is recorded. Recorded iterations: ${inWords(recorded)}.`
  throw new JournalError('ERR_REQUEST_NOT_FOUND', `${invocations}: ${reason}`, { path: invocations, reason })
}

function inWords(iterations: readonly number[]): string {
  const ranges: Ranges = []
  for (const iteration of [...new Set(iterations)].filter(Number.isInteger).sort((a, b) => a - b))
    addToRanges(ranges, iteration)
  const words = ranges.map(([first, last]) => (first === last ? `${first}` : `${first} to ${last}`))
  return words.join(', ') || 'none'
}

/** Requests of a run, oldest first. */
export interface RecordedRequests {
  /** How many there are; they count from 0. */
  readonly length: number
  /** How many messages the request has. */
  messageCount(index: number): number
  /** The numbers of the lines of `io/parts.jsonl` that a request is made of. */
  parts(index: number): { parameters: number; messages: number[] }
  /** What the context said about the sources of its messages. */
  blocks(index: number): readonly unknown[]
  /** The API that it was sent to. */
  api(index: number): 'chat' | 'responses' | 'messages'
  /**
   * What one of these lines holds: a message, or a request without its messages.
   *
   * @throws {JournalError} `ERR_REQUEST_CORRUPT`: there is no such line.
   */
  part(number: number): unknown
  /**
   * What came back, as `InvocationRecord.complete` was given it under `response`. Read when it is asked for. Undefined if there was
   * no answer.
   */
  response(index: number): unknown
}

/**
 * Opens what a run sent to its model and what came back, for reading in order.
 *
 * Keeps each message once, and where the answers lie.
 *
 * @param refs - Which records, as `THOUGHT.llm_invocation_ref` names them. Default: all with a response.
 * @throws {JournalError} `ERR_RUN_NOT_FOUND`; `ERR_REQUEST_CORRUPT`: a record is not whole.
 */
export function openRecordedRequests(runDirectory: string, refs?: readonly string[]): RecordedRequests {
  if (!existsSync(runDirectory)) throw notFound(runDirectory)
  const paths = runPaths(runDirectory)
  const records = refs
    ? refs.map((ref) => readWhole(join(runDirectory, ref)))
    : recordsIn(paths.invocations).flatMap((name) => readAnswered(join(paths.invocations, name)))
  const parts = readParts(paths.parts)
  const blobs = new Set(records.flatMap((each) => each.blobs ?? []))

  function record(index: number): KeptRecord {
    const found = records[index]
    if (found) return found
    throw new RangeError(`There is no request ${index} in ${paths.invocations}.`)
  }

  function part(number: number): unknown {
    if (parts.has(number)) return withBlobs(parts.get(number), runDirectory, blobs)
    throw corruptRequest(paths.parts, `Part ${number} of a recorded request is missing.`)
  }

  return {
    length: records.length,
    messageCount: (index) => fromRanges(record(index).parts.messages ?? []).length,
    parts: (index) => {
      const { parameters, messages } = record(index).parts
      return { parameters, messages: fromRanges(messages ?? []) }
    },
    blocks: (index) => record(index).blocks ?? [],
    api: (index) => knownApi(record(index).wire?.api),
    part,
    response: (index) => readRecord(record(index).path).response,
  }
}

type KeptRecord = RequestRecord & { path: string }

/** Nothing for a record without a response. */
function readAnswered(path: string): KeptRecord[] {
  const value = readRecord(path)
  return value.response === undefined ? [] : [readWhole(path, value)]
}

function readWhole(path: string, value: unknown = readRecord(path)): KeptRecord {
  const { data } = recordSchema.safeParse(value)
  if (!data) throw corruptRequest(path, 'The record is not whole.')
  return { path, ...data }
}

/** Requests of before 0.2 do not name their API, and another library's call options are compared as they are. */
function knownApi(api: string | undefined): 'chat' | 'responses' | 'messages' {
  return api === 'responses' || api === 'messages' ? api : 'chat'
}

/** What each line of `io/parts.jsonl` holds, by its number. A line that is damaged, or the whole file, is simply not in the map. */
export function readParts(path: string): Map<number, unknown> {
  const events = inspectJournal<PartEvent>(path, undefined).lines.flatMap(({ event }) => event ?? [])
  return new Map(events.map(({ seq, part }) => [seq, part]))
}

/** @param problem - What is wrong with the file, as a sentence. */
function corruptRequest(path: string, problem: string): JournalError {
  return new JournalError(
    'ERR_REQUEST_CORRUPT',
    `${path}: ${problem}\nA power cut can leave this, and so can a disk, or someone who changed the files. The run itself is not affected.`,
    { path },
  )
}
