import { lstatSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { SessionError, systemCode } from '../errors.js'

/** Where the parts of one session lie. */
export interface SessionPaths {
  readonly directory: string
  readonly metadata: string
  readonly history: string
  /** A link to the newest complete state; replacing it is what makes a new state count. */
  readonly current: string
  readonly states: string
  /** Outputs too large for a result. */
  readonly output: string
  readonly lock: string
}

const ID = /^[A-Za-z0-9_-]{1,64}$/

/**
 * The paths of a session, existing or not.
 *
 * @throws {SessionError} `ERR_SESSION_ID`: the id could lead out of the sessions directory.
 */
export function sessionPaths(sessionsDirectory: string, id: string): SessionPaths {
  if (!ID.test(id)) {
    const shown = JSON.stringify(id.slice(0, 80))
    throw new SessionError(
      'ERR_SESSION_ID',
      `${shown} is not a session id. An id consists of letters, digits, "_" and "-"; "list" shows those there are.`,
    )
  }
  const directory = join(resolve(sessionsDirectory), id)
  return {
    directory,
    metadata: join(directory, 'metadata.json'),
    history: join(directory, 'history.log'),
    current: join(directory, 'current'),
    states: join(directory, 'states'),
    output: join(directory, 'output'),
    lock: join(directory, 'lock'),
  }
}

/**
 * The paths of a session that exists.
 *
 * @throws {SessionError} `ERR_SESSION_ID`, or `ERR_SESSION_UNKNOWN`: there is none, it was ended,
 *   or something else (a link, say) stands in its place.
 */
export function existingSession(sessionsDirectory: string, id: string): SessionPaths {
  const paths = sessionPaths(sessionsDirectory, id)
  if (!isDirectory(paths.directory)) {
    throw new SessionError(
      'ERR_SESSION_UNKNOWN',
      `There is no session "${id}" in ${resolve(sessionsDirectory)}. It may have been ended; start a new one.`,
    )
  }
  return paths
}

function isDirectory(path: string): boolean {
  try {
    return lstatSync(path).isDirectory()
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false
    throw error
  }
}
