import { isJournalError, type JournalContents, parseJournal, readJournal } from '@delta/journal'
import { isText, requireThat } from '../usage.js'
import { turnsOf } from './conversation.js'
import { knownBytes } from './known-bytes.js'
import type { Turn } from './turn.js'
import { collectTurns, type TurnCollector } from './turns.js'

/** A journal that is read again and again while it grows. */
export interface JournalFollower {
  /** As it was given. */
  readonly path: string
  /** The whole conversation as it is now. @throws {JournalError} As `readJournal`. */
  turns(): Promise<Turn[]>
}

/**
 * Reads a growing journal without parsing it anew each time.
 *
 * Only a shortcut: what was read before is compared byte for byte with the file, and if it is no longer the same
 * (people may edit journals) everything is read again. A new follower always gives what an old one gives.
 */
export function followJournal(path: string): JournalFollower {
  requireThat(
    isText(path) && !path.includes('\0'),
    'followJournal: the path',
    'the path of a journal as text',
  )
  const known = knownBytes(path)
  let collector: TurnCollector = collectTurns()

  async function turns(): Promise<Turn[]> {
    const growth = known.look()
    if (growth === undefined) return turnsOf((await readJournal(path)).events) // which says what is there
    const { grew, added } = growth
    if (!grew) collector = collectTurns()
    const offset = known.length
    const contents = parseToday(added, path, offset)
    const isWhole =
      contents !== undefined && contents.endOffset + contents.tornBytes === offset + added.length
    // an old format, damage, or a last event without its newline that would be read a second time: nothing is kept
    if (!isWhole) return turnsOf((await readJournal(path)).events)
    collector.push(contents.events)
    known.remember(added.subarray(0, contents.endOffset - offset))
    return collector.turns()
  }
  return { path, turns }
}

/** Reading the whole file can name the damaged line, and knows the older formats. */
function parseToday(bytes: Buffer, path: string, offset: number): JournalContents | undefined {
  try {
    return parseJournal(bytes, { path, offset })
  } catch (error) {
    if (isJournalError(error)) return undefined
    throw error
  }
}
