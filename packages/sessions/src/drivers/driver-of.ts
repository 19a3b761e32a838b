import { basename } from 'node:path'
import { SessionError } from '../errors.js'
import { bash } from './bash.js'
import type { Driver } from './driver.js'
import { python } from './python.js'
import { sh } from './sh.js'

/**
 * The driver of a program, by its name.
 *
 * @throws {SessionError} `ERR_SESSION_PROGRAM`: nobody wrote one for it.
 */
export function driverOf(program: string): Driver {
  const driver = findDriver(program)
  if (driver !== undefined) return driver
  throw new SessionError('ERR_SESSION_PROGRAM', noSessionsOf(program))
}

export function findDriver(program: string): Driver | undefined {
  const name = basename(program)
  if (name === 'bash') return bash
  if (name === 'sh' || name === 'dash') return sh
  if (/^python3?(\.\d+)?$/.test(name)) return python
  return undefined
}

export function noSessionsOf(program: string): string {
  return `There are no sessions of ${JSON.stringify(program)}. Start bash, sh or python3.`
}
