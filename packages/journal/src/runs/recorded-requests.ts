import { closeSync, existsSync, fstatSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn } from '@delta/durable'
import { openIfThere, readAt, readTextAtOnce } from '../files/read-at.js'
import { lineSplitter, splitLines } from '../read/lines.js'
import { parseJson } from '../read/parse.js'
import { fromRanges, type Ranges } from '../requests/ranges.js'
import { corruptRequest, recordSchema } from '../requests/request-record.js'
import { runPaths } from '../run-paths.js'
import { notFound } from './read-run.js'

/** The answered requests of a run, oldest first, each read when it is asked for. */
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
  /** What came back, as `InvocationRecord.complete` was given it under `response`. */
  response(index: number): unknown
}

interface Answered {
  path: string
  parameters: number
  messages: Ranges
}

const CHUNK_BYTES = 1 << 20

/**
 * Opens what a run sent to its model and what came back, for reading in order.
 *
 * Keeps where things lie, and none of what they hold: the requests of a long run are
 * many times as large as what is new in them. Requests without a response are left out.
 *
 * @throws {JournalError} `ERR_RUN_NOT_FOUND`; `ERR_REQUEST_CORRUPT`: a record is not whole.
 */
export function openRecordedRequests(runDirectory: string): RecordedRequests {
  if (!existsSync(runDirectory)) throw notFound(runDirectory)
  const paths = runPaths(runDirectory)
  const records = namesIn(paths.invocations)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .flatMap((name) => readAnswered(join(paths.invocations, name)))
  const places = findParts(paths.parts)

  function record(index: number): Answered {
    const found = records[index]
    if (found) return found
    throw new RangeError(`There is no request ${index} in ${paths.invocations}.`)
  }

  return {
    length: records.length,
    messageCount: (index) => record(index).messages.reduce((sum, [first, last]) => sum + last - first + 1, 0),
    parts: (index) => ({
      parameters: record(index).parameters,
      messages: fromRanges(record(index).messages),
    }),
    part: (number) => readPart(paths.parts, places.get(number), number),
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

/** A torn record is that of a request that was never answered. */
function readRecord(path: string): { response?: unknown } {
  return Object(parseJson(readTextAtOnce(path)))
}

interface Place {
  offset: number
  length: number
}

/** Where in a parts log each number lies. Reads the file once, a piece at a time. */
function findParts(path: string): Map<number, Place> {
  const places = new Map<number, Place>()
  const file = openIfThere(path)
  if (file === undefined) return places
  const splitter = lineSplitter()
  try {
    const { size } = fstatSync(file)
    for (let at = 0; at < size; at += CHUNK_BYTES) {
      const block = splitter.push(readAt(file, at, Math.min(CHUNK_BYTES, size - at)))
      for (const { bytes, offset } of block ? splitLines(block.bytes) : []) {
        const { seq } = Object(parseJson(bytes.toString('utf8'))) as { seq?: unknown }
        if (typeof seq === 'number' && block)
          places.set(seq, { offset: block.offset + offset, length: bytes.length })
      }
    }
  } finally {
    closeSync(file)
  }
  return places
}

function readPart(path: string, place: Place | undefined, number: number): unknown {
  const file = place && openIfThere(path)
  if (place === undefined || file === undefined)
    throw corruptRequest(path, `Part ${number} of a recorded request is missing.`)
  try {
    const { part } = Object(parseJson(readAt(file, place.offset, place.length).toString('utf8'))) as {
      part?: unknown
    }
    return part
  } finally {
    closeSync(file)
  }
}
