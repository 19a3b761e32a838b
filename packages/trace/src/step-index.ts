import { closeSync, openSync, readSync } from 'node:fs'
import { LARGEST_TEXT_BYTES } from '@delta/journal/internal'

/** Where the events of an iteration lie in a journal. */
export interface IndexedStep {
  /** The iteration. */
  n: number
  /** First byte of its first event, or of what was said before it. */
  offset: number
  /** The byte after its last event. */
  end: number
  /** First byte of the start of the engine that began it; 0 if there is none. */
  engine: number
  /** Times of its first and last event. Milliseconds since 1970. */
  startedMs: number
  endedMs: number
  events: number
}

/** The iterations of a journal, in order, found without parsing its lines. */
export interface StepIndex {
  steps: readonly IndexedStep[]
  /** First byte of each start of an engine, and of the event before it. */
  engines: readonly { offset: number; before: number | undefined }[]
  events: number
  /** The end of the last whole line. */
  bytes: number
}

const CHUNK_BYTES = 1 << 20
/** The beginning of a line as this engine writes it. */
const KNOWN = /^\{"seq":\d+,"timestamp":"([^"]+)","type":"([A-Z_]+)"(?:,"iteration":(\d+))?/
const HEAD_BYTES = 160
/** Events of other types name their iteration, if not there, then further on. */
const OF_NO_ITERATION = new Set(['ENGINE_START', 'ENGINE_END', 'USER_MESSAGE', 'SYSTEM_MESSAGE'])

/** Reads a journal once, and keeps of each line at most where it lies. A missing file has no steps. */
export function indexSteps(path: string): StepIndex {
  const steps: IndexedStep[] = []
  /** What no iteration has yet: it is said before the next one. */
  let pending: { offset: number; startedMs: number; events: number } | undefined
  let events = 0
  let engine = 0
  const engines: { offset: number; before: number | undefined }[] = []
  let before: number | undefined

  const bytes = scanLines(path, (line, offset, end) => {
    const head = headOf(line)
    if (head === undefined) return
    const { type, iteration, atMs } = head
    events += 1
    if (type === 'ENGINE_START') {
      engine = offset
      engines.push({ offset, before })
    }
    before = offset
    const last = steps.at(-1)
    if (!iteration) {
      // iteration 0 is the workspace before the first one
      pending ??= { offset, startedMs: atMs, events: 0 }
      pending.events += 1
      return
    }
    const known = last && iteration <= last.n ? last : undefined
    const step = known ?? {
      n: iteration,
      ...(pending ?? { offset, startedMs: atMs, events: 0 }),
      end,
      engine,
      endedMs: atMs,
    }
    if (known === undefined) steps.push(step)
    else step.events += pending?.events ?? 0
    step.events += 1
    Object.assign(step, { end, endedMs: atMs })
    pending = undefined
  })
  return { steps, engines, events, bytes }
}

/** Calls `onLine` for each whole line that is not empty, without its newline. @returns The end of the last one. */
function scanLines(path: string, onLine: (line: Buffer, offset: number, end: number) => void): number {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
  try {
    let chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    let held = 0 // bytes of an unfinished line at the beginning of the chunk
    let at = 0 // where the chunk begins in the file
    for (;;) {
      if (held === LARGEST_TEXT_BYTES) return at // no event is that long: reading the steps names the line
      if (held === chunk.length) chunk = Buffer.concat([chunk], chunk.length * 2)
      const count = readSync(file, chunk, held, chunk.length - held, at + held)
      if (count === 0) return at
      const filled = held + count
      let start = 0
      for (let end = chunk.indexOf(10, held); end !== -1 && end < filled; end = chunk.indexOf(10, start)) {
        if (end > start) onLine(chunk.subarray(start, end), at + start, at + end + 1)
        start = end + 1
      }
      chunk.copyWithin(0, start, filled)
      held = filled - start
      at += start
    }
  } finally {
    closeSync(file)
  }
}

interface Head {
  type: unknown
  iteration: number | undefined
  atMs: number
}

/** Undefined for a blank line. One that begins otherwise was written by another program, or by hand: it is parsed. */
function headOf(line: Buffer): Head | undefined {
  const [, timestamp = '', type = '', iteration] = KNOWN.exec(line.toString('latin1', 0, HEAD_BYTES)) ?? []
  if (iteration === undefined && !OF_NO_ITERATION.has(type)) return parsedHead(line.toString().trim())
  return {
    type,
    iteration: iteration === undefined ? undefined : Number(iteration),
    atMs: Date.parse(timestamp),
  }
}

function parsedHead(line: string): Head | undefined {
  if (line === '') return undefined
  try {
    const { type, iteration, timestamp } = Object(JSON.parse(line)) as Record<string, unknown>
    return {
      type,
      iteration: Number.isSafeInteger(iteration) ? (iteration as number) : undefined,
      atMs: Date.parse(String(timestamp)),
    }
  } catch {
    return { type: undefined, iteration: undefined, atMs: Number.NaN } // reading the steps names the line
  }
}
