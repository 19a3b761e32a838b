import { type FSWatcher, watch } from 'node:fs'
import { readJournal, readRun, type StoredEvent } from '@delta/journal'

/** Some file systems tell nobody of a change, and some machines have no watchers left: look this often anyway. */
const LOOK_AGAIN_MS = 500

/** A run's events, those to come too, until nobody writes it any more. */
export async function* followJournal(run: {
  directory: string
  journalPath: string
}): AsyncGenerator<StoredEvent> {
  let fromOffset = 0
  const read = async (): Promise<StoredEvent[]> => {
    const { events, endOffset } = await readJournal(run.journalPath, { fromOffset })
    fromOffset = endOffset
    return events
  }
  for (;;) {
    const events = await read()
    yield* events
    if (events.length > 0) continue
    if (!(await isWritten(run.directory))) {
      yield* await read() // its last words may have come after we looked
      return
    }
    await changeOf(run.journalPath)
  }
}

/** A run that is empty and has an owner is about to begin, or its journal was deleted and the owner has not noticed. */
async function isWritten(directory: string): Promise<boolean> {
  const { status, owner } = await readRun(directory, { tolerant: true })
  return status === 'RUNNING' || (status === 'EMPTY' && owner?.alive === true)
}

function changeOf(path: string): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watchIfPossible(path)
    const timer = setTimeout(done, LOOK_AGAIN_MS)
    function done(): void {
      clearTimeout(timer)
      watcher?.close()
      resolve()
    }
    watcher?.once('change', done).once('error', done)
  })
}

function watchIfPossible(path: string): FSWatcher | undefined {
  try {
    return watch(path)
  } catch {
    return undefined // the time limit does without
  }
}
