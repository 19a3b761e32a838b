import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { type Journal, openJournal } from '../append/open.js'
import { repairJournal } from '../append/repair.js'
import { isJournalError } from '../errors.js'
import type { StoredEvent } from '../events/event.js'
import { streamJournal } from '../read/read.js'

/** A line of `io/parts.jsonl`: one message, or one set of the other parameters, that was sent at least once. */
export interface PartEvent {
  seq: number
  timestamp: string
  type: 'MESSAGE' | 'PARAMETERS'
  part: unknown
}

export interface PartsOptions {
  sync: boolean
  onNotice: (notice: string) => void
}

/** The parts log, open for writing. */
export interface Parts {
  /** The number of the line that holds this JSON text; written when no line does yet. */
  lineOf(type: PartEvent['type'], text: string): number
  sync(): void
  close(): void
}

/**
 * Opens a parts log.
 *
 * It is a record, not the truth: a damaged line is set aside with a notice, and
 * costs the requests it was part of, never the run.
 */
export function openParts(path: string, options: PartsOptions): Parts {
  const lines = new Map<string, number>()
  let isOpen = false
  const log = openLog(path, options, (event) => {
    if (isOpen) return // `lineOf` knows the text of what it adds
    const { type, part } = event as StoredEvent & PartEvent
    lines.set(key(type, JSON.stringify(part)), event.seq)
  })
  isOpen = true

  function lineOf(type: PartEvent['type'], text: string): number {
    const name = key(type, text)
    const known = lines.get(name)
    if (known !== undefined) return known
    log.append({ type, part: JSON.parse(text) })
    lines.set(name, log.lastSeq)
    return log.lastSeq
  }

  return { lineOf, sync: log.sync, close: log.close }
}

function openLog(
  path: string,
  { sync, onNotice }: PartsOptions,
  onEvent: (event: StoredEvent) => void,
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

/** The parts with these numbers. One that is missing, or the whole file, is simply not in the map. */
export async function readParts(path: string, wanted: ReadonlySet<number>): Promise<Map<number, unknown>> {
  const parts = new Map<number, unknown>()
  if (!existsSync(path)) return parts
  for await (const event of streamJournal(path)) {
    if (wanted.has(event.seq)) parts.set(event.seq, (event as StoredEvent & PartEvent).part)
  }
  return parts
}

/** A digest, so that the map of what is known stays small whatever was sent. */
function key(type: string, text: string): string {
  return hash('sha256', type + text, 'base64')
}
