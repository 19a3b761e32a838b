import { constants, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EngineEvent } from '@delta/engine'
import { PLAIN, renderer } from './render.js'

const { O_APPEND, O_CREAT, O_NONBLOCK, O_WRONLY } = constants

/**
 * Appends what `-v` prints to `engine.log` of the run's directory: one timestamped line each, without colours. It is never synced
 * and never read by us: the journal is the record, so a log that cannot be written stops nothing. Journal events hold no secrets.
 */
export function engineLog(complain: (message: string) => void) {
  const render = renderer({ style: PLAIN, verbose: true, transcript: true })
  let path: string | undefined
  let file: number | undefined
  let waiting: string | undefined = '' // until the run has a directory; undefined once writing has failed

  function write(lines: readonly string[], timestamp = new Date().toISOString()): void {
    if (waiting === undefined) return
    waiting += lines.map((line) => `${timestamp} ${line}\n`).join('')
    if (path === undefined || waiting === '') return
    try {
      file ??= openSync(path, O_APPEND | O_CREAT | O_WRONLY | O_NONBLOCK, 0o600) // opening a pipe would block the run
      writeFileSync(file, waiting)
      waiting = ''
    } catch (error) {
      waiting = undefined
      complain(`engine.log is not written: ${(error as Error).message}`)
    }
  }

  return {
    write,
    openIn(directory: string): void {
      path = join(directory, 'engine.log')
    },
    show: (event: EngineEvent): void =>
      write(render(event), 'event' in event ? event.event.timestamp : undefined),
  }
}
