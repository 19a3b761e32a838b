import { type Stats, statSync } from 'node:fs'
import { readJournal } from '@delta/journal'
import { turnsOf } from './conversation.js'
import type { Turn } from './turn.js'
import { collectTurns } from './turns.js'

/** A journal that is read again and again while it grows. */
export interface JournalFollower {
  /** As it was given. */
  readonly path: string
  /** The whole conversation as it is now. @throws {JournalError} As `readJournal`. */
  turns(): Promise<Turn[]>
}

/**
 * Keeps the conversation of a growing journal in memory, and reads only what was appended since.
 *
 * Everything is read again when the file was replaced, shortened, or written without growing. An edit that makes a file
 * longer in place is seen by the next follower.
 */
export function followJournal(path: string): JournalFollower {
  let collector = collectTurns()
  let seen: Stats | undefined
  let offset = 0
  let lastSeq = 0

  async function turns(): Promise<Turn[]> {
    const status = statSync(path, { throwIfNoEntry: false })
    if (status && seen && isUnchanged(status, seen)) return collector.turns()

    const hasGrown = status && seen && status.ino === seen.ino && status.size > seen.size
    const added = hasGrown ? await readJournal(path, { fromOffset: offset }) : undefined
    const isNext = added?.events[0]?.seq === lastSeq + 1
    const contents = added && isNext ? added : await readJournal(path)
    if (contents !== added) collector = collectTurns()
    seen = undefined
    // a last event without its newline would be read a second time
    if (contents.endOffset + contents.tornBytes !== (status?.size ?? 0)) return turnsOf(contents.events)
    collector.push(contents.events)
    lastSeq = contents.events.at(-1)?.seq ?? 0
    offset = contents.endOffset
    seen = status
    return collector.turns()
  }
  return { path, turns }
}

function isUnchanged(status: Stats, seen: Stats): boolean {
  return status.ino === seen.ino && status.size === seen.size && status.mtimeMs === seen.mtimeMs
}
