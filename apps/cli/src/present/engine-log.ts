import { constants, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EngineEvent } from '@delta/engine'
import { eventDescriber } from './event-describer.js'
import type { Presenter } from './presenter.js'
import { storedEvent } from './stored-event.js'
import { PLAIN } from './style.js'
import { toldNotices } from './told-notices.js'

const { O_APPEND, O_CREAT, O_NONBLOCK, O_WRONLY } = constants

/**
 * Also writes what `-v` prints to `engine.log` of the run's directory: timestamped, one line each, without colours.
 * Appended to by every engine process of the run, never synced, never read by us. Journal events hold no secrets.
 */
export function withEngineLog(presenter: Presenter): Presenter {
  const log = openLog((message) => presenter.warn(message))
  return {
    ...presenter,
    show(event) {
      presenter.show(event)
      log.show(event)
    },
    warn(message) {
      presenter.warn(message)
      log.write(message.split('\n'))
    },
  }
}

function openLog(complain: (message: string) => void) {
  let path: string | undefined
  /** Stays open as long as the process: opening costs more than writing a line. */
  let file: number | undefined
  /** What was said before the run had a directory; undefined once writing has failed. */
  let waiting: string[] | undefined = []

  const describe = eventDescriber({ style: PLAIN, verbose: true, transcript: true })

  function write(lines: readonly string[], timestamp = new Date().toISOString()): void {
    if (!waiting || lines.length === 0) return
    waiting.push(...lines.map((line) => `${timestamp} ${line}\n`))
    if (path === undefined) return
    try {
      file ??= openSync(path, O_APPEND | O_CREAT | O_WRONLY | O_NONBLOCK, 0o600) // a pipe would hold the run up
      writeFileSync(file, waiting.join(''))
      waiting = []
    } catch (error) {
      waiting = undefined // the journal is the record; a log that cannot be written stops nothing
      complain(`engine.log is not written: ${(error as Error).message}`)
    }
  }

  const isTold = toldNotices({ showsHooks: true })

  function show(event: EngineEvent): void {
    if (isTold(event)) return
    if (event.kind === 'open') describe.remember(event.event)
    if (event.kind === 'notice') write([`note: ${event.message}`])
    const stored = storedEvent(event)
    if (stored === undefined) return
    if (stored.type === 'ENGINE_START' && stored.work_dir !== undefined)
      path = join(stored.work_dir, '.delta', stored.run_id, 'engine.log')
    write(describe(stored), stored.timestamp)
  }

  return { show, write }
}
