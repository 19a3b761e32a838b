import { createHash } from 'node:crypto'
import { closeSync, existsSync, openSync, readdirSync } from 'node:fs'
import type { StoredEvent } from './event.js'
import { type Journal, openJournal } from './open.js'
import { readJournal } from './read.js'
import type { Run } from './run.js'
import { scanJournal } from './scan.js'

/** Which lines of `parts.jsonl` make up a request. */
export interface StoredRequest {
  /** Line of the parameters: the request with `messages` emptied. */
  parameters: number
  /** First and last lines of runs of messages, in order; null when the request has no list of messages. */
  messages: [number, number][] | null
}

interface PartEvent {
  seq: number
  timestamp: string
  type: 'MESSAGE' | 'PARAMETERS'
  part: unknown
}

export interface Parts {
  store(request: Record<string, unknown>): StoredRequest
  records: number
}

const stores = new WeakMap<Run, Parts>()

/** The parts log of a run, opened when the first request is recorded. */
export function partsOf(run: Run): Parts {
  const known = stores.get(run)
  if (known) return known
  const parts = openParts(run)
  stores.set(run, parts)
  return parts
}

function openParts(run: Run): Parts {
  const path = run.paths.parts
  const lines = new Map<string, number>()
  const log: Journal<PartEvent> = openJournal<PartEvent>(path, { fence: run.fence })
  if (log.lastSeq > 0)
    scanParts(path, (event) => lines.set(digest(event.type, JSON.stringify(event.part)), event.seq))

  function lineOf(type: PartEvent['type'], part: unknown): number {
    const key = digest(type, JSON.stringify(part))
    const known = lines.get(key)
    if (known !== undefined) return known
    const [stored] = log.append({ type, part })
    const line = stored?.seq ?? log.lastSeq
    lines.set(key, line)
    run.syncLater(path)
    return line
  }

  function store(request: Record<string, unknown>): StoredRequest {
    const { messages } = request
    if (!Array.isArray(messages)) return { parameters: lineOf('PARAMETERS', request), messages: null }
    const parameters = lineOf('PARAMETERS', { ...request, messages: [] })
    return { parameters, messages: toRanges(messages.map((message) => lineOf('MESSAGE', message))) }
  }

  return { store, records: countRecords(run.paths.invocations) }
}

function scanParts(path: string, each: (event: PartEvent) => void): void {
  const descriptor = openSync(path, 'r')
  try {
    scanJournal(descriptor, path, (event) => each(event as StoredEvent & PartEvent))
  } finally {
    closeSync(descriptor)
  }
}

function toRanges(lines: number[]): [number, number][] {
  const ranges: [number, number][] = []
  for (const line of lines) {
    const last = ranges.at(-1)
    if (last && line === last[1] + 1) last[1] = line
    else ranges.push([line, line])
  }
  return ranges
}

/** Puts a request together again. */
export async function readParts(path: string, { parameters, messages }: StoredRequest): Promise<string> {
  const { events } = await readJournal(path)
  const part = (line: number) => (events[line - 1] as PartEvent | undefined)?.part
  const request = part(parameters)
  if (messages === null) return JSON.stringify(request)
  const sent = messages.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, index) => part(first + index)),
  )
  return JSON.stringify({ ...(request as object), messages: sent })
}

function digest(type: string, text: string): string {
  return createHash('sha256').update(type).update(text).digest('base64')
}

function countRecords(directory: string): number {
  return existsSync(directory) ? readdirSync(directory).length : 0
}
