import { constants, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

const { O_APPEND, O_CREAT, O_NONBLOCK, O_WRONLY } = constants

/**
 * Appends the progress to `engine.log` of the run's directory: one timestamped line each, without colours. It is never synced
 * and never read by us: the journal is the record, so a log that cannot be written stops nothing. Journal events hold no secrets.
 */
export function engineLog(complain: (message: string) => void) {
  let path: string | undefined
  let file: number | undefined
  let waiting: string | undefined = '' // until the run has a directory; undefined once writing has failed

  return {
    openIn(directory: string): void {
      path = join(directory, 'engine.log')
    },
    write(lines: readonly string[], timestamp = new Date().toISOString()): void {
      if (waiting === undefined) return
      const plain = lines.flatMap((line) => stripVTControlCharacters(line).split('\n'))
      waiting += plain.map((line) => `${timestamp} ${line}\n`).join('')
      if (path === undefined || waiting === '') return
      try {
        file ??= openSync(path, O_APPEND | O_CREAT | O_WRONLY | O_NONBLOCK, 0o600) // opening a pipe would block the run
        writeFileSync(file, waiting)
        waiting = ''
      } catch (error) {
        waiting = undefined
        complain(`engine.log is not written: ${(error as Error).message}`)
      }
    },
  }
}
