import { lstatSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn } from '@delta/durable'

/** Longer than anybody takes to make a session. */
const ABANDONED_AFTER_MS = 60 * 60 * 1000

/** What a killed `end` was removing, and under the name of its making what a killed `start` had not finished. */
const ENDED = /^sess_[A-Za-z0-9_-]+\.ended$/
const UNFINISHED = /^new-sess_[A-Za-z0-9_-]+$/

/** Removes what processes that were killed have left of sessions which were none yet, or no longer. */
export function removeLeftovers(sessionsDirectory: string, now: Date): void {
  for (const name of namesIn(sessionsDirectory)) {
    const path = join(sessionsDirectory, name)
    if (ENDED.test(name) || (UNFINISHED.test(name) && isAbandoned(path, now)))
      rmSync(path, { recursive: true, force: true })
  }
}

function isAbandoned(path: string, now: Date): boolean {
  const made = lstatSync(path, { throwIfNoEntry: false })
  return made !== undefined && now.getTime() - made.mtimeMs > ABANDONED_AFTER_MS
}
