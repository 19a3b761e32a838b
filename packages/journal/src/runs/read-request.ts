import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn } from '@delta/durable'
import { JournalError } from '../errors.js'
import { isKnownEvent } from '../events/event.js'
import { readTextAtOnce } from '../files/read-at.js'
import { parseJson } from '../read/parse.js'
import { streamJournal } from '../read/read.js'
import { readParts } from '../requests/parts.js'
import { addToRanges, fromRanges, type Ranges } from '../requests/ranges.js'
import { corruptRequest, type RequestRecord, recordSchema } from '../requests/request-record.js'
import { joinRequest } from '../requests/request-text.js'
import { journalPath, runPaths } from '../run-paths.js'

/**
 * The body of the last request of an iteration, byte for byte as it was sent.
 * Of a run that an older version recorded, the text of its `request.json`.
 *
 * @throws {JournalError} `ERR_REQUEST_NOT_FOUND`: the iteration has no record.
 *   `ERR_REQUEST_CORRUPT`: its parts do not add up to what was sent.
 */
export async function readRequest(runDirectory: string, iteration: number): Promise<string> {
  const paths = runPaths(runDirectory)
  const path = findRecord(paths.invocations, iteration)
  if (path === undefined) return await readOldRequest(runDirectory, iteration)
  const record = recordSchema.safeParse(parseJson(readTextAtOnce(path))).data
  if (!record) throw corruptRequest(path, notAsSent('the record is not whole'))
  const body = await rebuild(paths.parts, record.parts)
  if (createHash('sha256').update(body).digest('hex') === record.sha256) return body
  throw corruptRequest(path, notAsSent('what io/parts.jsonl holds does not have its SHA-256'))
}

async function rebuild(path: string, record: RequestRecord['parts']): Promise<string> {
  const lines = fromRanges(record.messages ?? [])
  const parts = await readParts(path, new Set([record.parameters, ...lines]))
  const parameters = parts.get(record.parameters) ?? {}
  if (record.messages === null) return JSON.stringify(parameters)
  return joinRequest(
    parameters,
    lines.map((line) => parts.get(line)),
  )
}

function findRecord(directory: string, iteration: number): string | undefined {
  const last = namesIn(directory)
    .filter((name) => name.endsWith(`_${iteration}.json`))
    .sort()
    .at(-1)
  return last === undefined ? undefined : join(directory, last)
}

/** Older versions kept each request whole, in a directory that the THOUGHT names. */
async function readOldRequest(runDirectory: string, iteration: number): Promise<string> {
  const { invocations } = runPaths(runDirectory)
  const kept = namesIn(invocations).map(iterationOf)
  let wasSent = false
  for await (const event of streamJournal(journalPath(runDirectory))) {
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

function iterationOf(name: string): number {
  return Number(/_(\d+)\.json$/.exec(name)?.[1])
}

function thereAre(iterations: readonly number[], wasSent: boolean): string {
  const sorted = [...new Set(iterations)].filter(Number.isInteger).sort((a, b) => a - b)
  if (sorted.length === 0) return wasSent ? '' : 'Nothing was sent to the model yet.'
  const ranges: Ranges = []
  for (const iteration of sorted) addToRanges(ranges, iteration)
  const words = ranges.map(([first, last]) => (first === last ? `${first}` : `${first} to ${last}`))
  return `There ${sorted.length === 1 ? 'is that of iteration' : 'are those of the iterations'} ${words.join(', ')}.`
}

function notAsSent(problem: string): string {
  return `The request cannot be given back as it was sent: ${problem}.`
}
