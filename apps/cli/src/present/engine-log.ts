import { constants, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EngineEvent } from '@delta/engine'
import { eventDescriber } from './event-describer.js'
import type { Presenter } from './presenter.js'
import { repeatedNotices } from './repeated-notices.js'
import { storedEvent } from './stored-event.js'
import { PLAIN } from './style.js'

const { O_APPEND, O_CREAT, O_NONBLOCK, O_WRONLY } = constants

export interface LoggingPresenter extends Presenter {
  /** @param runsDirectory - Where the runs are kept, if that is outside the workspace. */
  keepLogIn(runsDirectory: string | undefined): void
}

/**
 * Also writes what `-v` prints to `engine.log` of the run's directory: one timestamped line each, without colours.
 * Every engine process of the run appends to it; it is never synced and never read by us. Journal events hold no secrets.
 */
export function withEngineLog(presenter: Presenter): LoggingPresenter {
  const log = openLog((message) => presenter.warn(message))
  return {
    ...presenter,
    keepLogIn: log.keepIn,
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
  let runsDirectory: string | undefined
  /** Stays open until the process ends: opening costs more than writing a line. */
  let file: number | undefined
  /** Lines from before the run had a directory; undefined once writing has failed. */
  let waiting: string[] | undefined = []

  const describe = eventDescriber({ style: PLAIN, verbose: true, transcript: true })

  function write(lines: readonly string[], timestamp = new Date().toISOString()): void {
    if (!waiting || lines.length === 0) return
    waiting.push(...lines.map((line) => `${timestamp} ${line}\n`))
    if (path === undefined) return
    try {
      file ??= openSync(path, O_APPEND | O_CREAT | O_WRONLY | O_NONBLOCK, 0o600) // opening a pipe would block the run
      writeFileSync(file, waiting.join(''))
      waiting = []
    } catch (error) {
      waiting = undefined // the journal is the record; a log that cannot be written stops nothing
      complain(`engine.log is not written: ${(error as Error).message}`)
    }
  }

  const isRepeated = repeatedNotices({ showsHooks: true })

  function show(event: EngineEvent): void {
    if (isRepeated(event)) return
    if (event.kind === 'open' && event.event.type === 'ACTION_REQUEST') describe.remember(event.event)
    if (event.kind === 'notice') write([`note: ${event.message}`])
    const stored = storedEvent(event)
    if (stored === undefined) return
    if (stored.type === 'ENGINE_START' && stored.work_dir !== undefined)
      path = join(runsDirectory ?? join(stored.work_dir, '.delta'), stored.run_id, 'engine.log')
    write(describe(stored), stored.timestamp)
  }

  function keepIn(directory: string | undefined): void {
    runsDirectory = directory
  }

  return { show, write, keepIn }
}
