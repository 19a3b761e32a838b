import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn } from '@delta/durable'
import * as z from 'zod/mini'
import { JournalError } from './errors.js'
import { readTextAtOnce } from './files.js'
import { inspectJournal } from './inspect.js'
import { parseJson } from './lines.js'
import { streamJournal } from './read.js'
import { isKnownEvent, runEventSchema } from './events.js'
import { journalPath, runPaths } from './paths.js'
import { notFound } from './read-run.js'
import { addToRanges, fromRanges, type PartEvent, type Ranges } from './request-log.js'

/** What a reader needs of `io/invocations/<name>.json`: which lines of `io/parts.jsonl` the request is made of. */
const recordSchema = z.object({
  sha256: z.string(),
  request: z.optional(z.unknown()),
  parts: z.object({
    parameters: z.int(),
    messages: z.nullable(z.array(z.tuple([z.int(), z.int()]))),
  }),
})

type RequestRecord = z.infer<typeof recordSchema>

/**
 * The body of the last request of an iteration, byte for byte as it was sent.
 * Of a run that an older version recorded, the text of its `request.json`.
 *
 * @throws {JournalError} `ERR_REQUEST_NOT_FOUND`: the iteration has no record.
 *   `ERR_REQUEST_CORRUPT`: its parts do not add up to what was sent.
 */
export async function readRequest(runDirectory: string, iteration: number): Promise<string> {
  const paths = runPaths(runDirectory)
  const name = recordsIn(paths.invocations).findLast((each) => iterationOf(each) === iteration)
  if (name === undefined) return await readOldRequest(runDirectory, iteration)
  const path = join(paths.invocations, name)
  const { data: record } = recordSchema.safeParse(readRecord(path))
  if (!record) throw corruptRequest(path, notAsSent('the record is not whole'))
  const body = JSON.stringify(record.request ?? rebuilt(record.parts, readParts(paths.parts)))
  if (createHash('sha256').update(body).digest('hex') === record.sha256) return body
  throw corruptRequest(path, notAsSent('what was recorded does not have its SHA-256'))
}

function rebuilt({ parameters, messages }: RequestRecord['parts'], parts: Map<number, unknown>): object {
  const all = messages && fromRanges(messages).map((line) => parts.get(line))
  return { ...Object(parts.get(parameters)), ...(all && { messages: all }) }
}

function notAsSent(problem: string): string {
  return `The request cannot be given back as it was sent: ${problem}.`
}

/** Older versions kept each request whole, in a directory that the THOUGHT names. */
async function readOldRequest(runDirectory: string, iteration: number): Promise<string> {
  const { invocations } = runPaths(runDirectory)
  const kept = recordsIn(invocations).map(iterationOf)
  let wasSent = false
  for await (const event of streamJournal(journalPath(runDirectory), { schema: runEventSchema })) {
    if (!isKnownEvent(event) || event.type !== 'THOUGHT') continue
    wasSent ||= event.iteration === iteration
    const path = join(runDirectory, event.llm_invocation_ref ?? '', 'request.json')
    if (!existsSync(path)) continue
    if (event.iteration === iteration) return readTextAtOnce(path)
    kept.push(event.iteration)
  }
  const what = wasSent
    ? `The record of the request of iteration ${iteration} is gone.`
    : `There is no request of iteration ${iteration}.`
  const message = `${invocations}: ${what} ${thereAre(kept, wasSent)}`.trimEnd()
  throw new JournalError('ERR_REQUEST_NOT_FOUND', message, { path: invocations })
}

function thereAre(iterations: readonly number[], wasSent: boolean): string {
  const sorted = [...new Set(iterations)].filter(Number.isInteger).sort((a, b) => a - b)
  if (sorted.length === 0) return wasSent ? '' : 'Nothing was sent to the model yet.'
  const ranges: Ranges = []
  for (const iteration of sorted) addToRanges(ranges, iteration)
  const words = ranges.map(([first, last]) => (first === last ? `${first}` : `${first} to ${last}`))
  return `There ${sorted.length === 1 ? 'is that of iteration' : 'are those of the iterations'} ${words.join(', ')}.`
}

/** The answered requests of a run, oldest first. */
export interface RecordedRequests {
  /** How many there are; they count from 0. */
  readonly length: number
  /** How many messages the request has. */
  messageCount(index: number): number
  /** The numbers of the lines of `io/parts.jsonl` that a request is made of. */
  parts(index: number): { parameters: number; messages: number[] }
  /**
   * What one of these lines holds: a message, or a request without its messages.
   *
   * @throws {JournalError} `ERR_REQUEST_CORRUPT`: there is no such line.
   */
  part(number: number): unknown
  /** What came back, as `InvocationRecord.complete` was given it under `response`. Read when it is asked for. */
  response(index: number): unknown
}

interface Answered {
  path: string
  parameters: number
  messages: Ranges
}

/**
 * Opens what a run sent to its model and what came back, for reading in order.
 *
 * Keeps each message once, and where the answers lie. Requests without a response are left out.
 *
 * @throws {JournalError} `ERR_RUN_NOT_FOUND`; `ERR_REQUEST_CORRUPT`: a record is not whole.
 */
export function openRecordedRequests(runDirectory: string): RecordedRequests {
  if (!existsSync(runDirectory)) throw notFound(runDirectory)
  const paths = runPaths(runDirectory)
  const records = recordsIn(paths.invocations).flatMap((name) => readAnswered(join(paths.invocations, name)))
  const parts = readParts(paths.parts)

  function record(index: number): Answered {
    const found = records[index]
    if (found) return found
    throw new RangeError(`There is no request ${index} in ${paths.invocations}.`)
  }

  function part(number: number): unknown {
    if (parts.has(number)) return parts.get(number)
    throw corruptRequest(paths.parts, `Part ${number} of a recorded request is missing.`)
  }

  return {
    length: records.length,
    messageCount: (index) => record(index).messages.reduce((sum, [first, last]) => sum + last - first + 1, 0),
    parts: (index) => ({
      parameters: record(index).parameters,
      messages: fromRanges(record(index).messages),
    }),
    part,
    response: (index) => readRecord(record(index).path).response,
  }
}

/** Nothing for a record without a response. */
function readAnswered(path: string): Answered[] {
  const value = readRecord(path)
  if (value.response === undefined) return []
  const { data } = recordSchema.safeParse(value)
  if (!data) throw corruptRequest(path, 'The record is not whole.')
  return [{ path, parameters: data.parts.parameters, messages: data.parts.messages ?? [] }]
}

/** The names of the records, oldest first. */
function recordsIn(directory: string): string[] {
  return namesIn(directory)
    .filter((name) => name.endsWith('.json'))
    .sort()
}

function iterationOf(name: string): number {
  return Number(/_(\d+)\.json$/.exec(name)?.[1])
}

/** A torn record is that of a request that was never answered. */
function readRecord(path: string): { response?: unknown } {
  return Object(parseJson(readTextAtOnce(path)))
}

/** What each line of a parts log holds, by its number. A line that is damaged, or the whole file, is simply not in the map. */
function readParts(path: string): Map<number, unknown> {
  if (!existsSync(path)) return new Map()
  const events = inspectJournal<PartEvent>(path, undefined).lines.flatMap(({ event }) => event ?? [])
  return new Map(events.map(({ seq, part }) => [seq, part]))
}

/** @param problem - What is wrong with the file, as a sentence. */
function corruptRequest(path: string, problem: string): JournalError {
  return new JournalError(
    'ERR_REQUEST_CORRUPT',
    `${path}: ${problem}\nSomebody changed these files, or the disk did. The run itself is not affected.`,
    { path },
  )
}
