import { readFile } from 'node:fs/promises'
import { readJournal } from '@delta/journal'
import { turnsOf } from './conversation.js'
import { collectTurns, type Turn, type TurnCollector } from './turns.js'

/** A journal that is read again and again while it grows. */
export interface JournalFollower {
  readonly path: string
  /** The whole conversation as it is now. */
  turns(): Promise<Turn[]>
}

/**
 * Reads a growing journal without parsing it anew each time.
 *
 * Only a shortcut: what was read before is compared byte for byte with the file, and if it is no longer the same
 * (people may edit journals) everything is read again. A new follower always gives what an old one gives.
 */
export function followJournal(path: string): JournalFollower {
  let known = Buffer.alloc(0)
  let collector: TurnCollector = collectTurns()

  async function turns(): Promise<Turn[]> {
    const bytes = await readFile(path).catch(emptyIfMissing)
    if (!bytes.subarray(0, known.length).equals(known)) {
      known = Buffer.alloc(0)
      collector = collectTurns()
    }
    const { events, endOffset, tornBytes } = await readJournal(path, { fromOffset: known.length })
    if (endOffset > bytes.length) return turns() // it grew between the two reads
    if (endOffset + tornBytes < bytes.length) return unfinished(path)
    collector.push(events)
    known = bytes.subarray(0, endOffset)
    return collector.turns()
  }
  return { path, turns }
}

/** The last event has no newline yet and would be read a second time: nothing of this reading is kept. */
async function unfinished(path: string): Promise<Turn[]> {
  return turnsOf((await readJournal(path)).events)
}

function emptyIfMissing(error: NodeJS.ErrnoException): Buffer<ArrayBuffer> {
  if (error.code === 'ENOENT') return Buffer.alloc(0)
  throw error
}
