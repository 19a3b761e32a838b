import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { readHolder, readIfThere, replaceFile, takeLock } from '@delta/durable'
import { damaged, SessionError, systemCode } from './errors.js'

/** Paths of the parts of one session. */
export type SessionPaths = ReturnType<typeof sessionPaths>

/**
 * The paths of a session, existing or not.
 *
 * @throws {SessionError} `ERR_SESSION_ID`: the id could lead out of the sessions directory.
 */
export function sessionPaths(sessionsDirectory: string, id: string) {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(id)) {
    const shown = JSON.stringify(id.slice(0, 80))
    throw new SessionError(
      'ERR_SESSION_ID',
      `${shown} is not a session id. An id consists of letters, digits, "_" and "-"; "list" shows the sessions.`,
    )
  }
  const directory = join(resolve(sessionsDirectory), id)
  return {
    directory,
    metadata: join(directory, 'metadata.json'),
    history: join(directory, 'history.log'),
    /** A link to the newest complete state; replacing it is what makes a new state count. */
    current: join(directory, 'current'),
    states: join(directory, 'states'),
    /** Outputs that a result does not hold whole. */
    output: join(directory, 'output'),
    lock: join(directory, 'lock'),
  }
}

/**
 * The paths of a session that exists.
 *
 * @throws {SessionError} `ERR_SESSION_ID`; `ERR_SESSION_UNKNOWN`: there is no such session, it was ended,
 *   or its path is not a directory but a link, say.
 */
export function existingSession(sessionsDirectory: string, id: string): SessionPaths {
  const paths = sessionPaths(sessionsDirectory, id)
  if (!lstatSync(paths.directory, { throwIfNoEntry: false })?.isDirectory()) {
    throw new SessionError(
      'ERR_SESSION_UNKNOWN',
      `There is no session "${id}" in ${resolve(sessionsDirectory)}. It may have been ended; start a new one.`,
    )
  }
  return paths
}

/** `metadata.json`. Unknown members are kept. */
export interface SessionMetadata {
  session_id: string
  /** What was started: `bash`, `sh`, `python3`, or a path to one of them. */
  command: string
  /** Its absolute path when the session started. */
  program: string
  created_at: string
  last_executed_at: string | null
  status: 'active'
  work_dir: string
  execution_count: number
  /** The run that started the session, if one did: `cleanup` in that run removes it. */
  run_id?: string | undefined
  /** Names of variables whose values are never stored. */
  secret_names: string[]
  /** Commands that still run, until `end`. */
  background_jobs: BackgroundJob[]
  /** Where the session lay at its last command. */
  place?: Place | undefined
}

/** Where the directory of a session lies. A copy, as in a fork of a run, has another path and another inode. */
export interface Place {
  path: string
  inode: number
}

export function placeOf({ directory }: SessionPaths): Place {
  return { path: realpathSync(directory), inode: statSync(directory).ino }
}

export interface BackgroundJob {
  pid: number
  /** Start time of the process, which distinguishes it from a later one with the same number. */
  start: string
  command: string
}

/**
 * The background jobs of a copied session belong to the original.
 *
 * @throws {SessionError} `ERR_SESSION_DAMAGED`: the file is missing, or is not what we wrote.
 */
export function readMetadata(paths: SessionPaths): SessionMetadata {
  let value: unknown
  try {
    value = JSON.parse(readWhole(paths.metadata).toString('utf8'))
  } catch (error) {
    throw damaged(paths.metadata, error)
  }
  if (!isMetadata(value)) throw damaged(paths.metadata)
  const isCopy = value.place !== undefined && value.place?.inode !== placeOf(paths).inode
  return isCopy ? { ...value, background_jobs: [] } : value
}

/** Replaces the whole file at once. */
export function writeMetadata(paths: SessionPaths, metadata: SessionMetadata): void {
  replaceFile(paths.metadata, `${JSON.stringify(metadata, null, 2)}\n`)
}

function isMetadata(value: unknown): value is SessionMetadata {
  const { session_id, command, program, created_at, execution_count, secret_names, background_jobs } = Object(
    value,
  ) as Record<string, unknown>
  const texts = [session_id, command, program, created_at].every((one) => typeof one === 'string')
  return (
    texts &&
    Number.isInteger(execution_count) &&
    Array.isArray(secret_names) &&
    secret_names.every((name) => typeof name === 'string') &&
    Array.isArray(background_jobs) &&
    background_jobs.every(isJob)
  )
}

function isJob(value: unknown): boolean {
  const { pid, start } = Object(value) as Record<string, unknown>
  return Number.isInteger(pid) && Number(pid) > 1 && typeof start === 'string'
}

const { O_APPEND, O_CREAT, O_NONBLOCK, O_WRONLY } = constants

/** Appends one line of JSON to `history.log`: the command (without the secrets in it), its time, its end and its directory. */
export function recordCommand(paths: SessionPaths, entry: object): void {
  const descriptor = openSync(paths.history, O_APPEND | O_CREAT | O_WRONLY | O_NONBLOCK, 0o600) // a pipe in its place is not waited for
  try {
    writeFileSync(descriptor, `${JSON.stringify(entry)}\n`)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Reads a file of a session. A pipe in its place is not waited for.
 *
 * @throws {SessionError} `ERR_SESSION_DAMAGED`: it is missing.
 */
export function readWhole(path: string): Buffer {
  const bytes = readIfThere(path)
  if (bytes === undefined) throw damaged(path)
  return bytes
}

/**
 * Waits until no other process works in a session, and holds the lock until the returned function is called. A holder that died is
 * passed over at once; a holder that cannot be seen from here, when its heartbeat has stopped for half a minute.
 *
 * @throws {SessionError} `ERR_SESSION_ABORTED`: `signal` came first. `ERR_SESSION_UNKNOWN`: the
 *   session was ended meanwhile. `ERR_SESSION_DAMAGED`: the lock directory or a file in it is not what we wrote.
 */
export async function lockSession(directory: string, signal?: AbortSignal): Promise<() => void> {
  const ours = signal && AbortSignal.any([signal]) // many calls may wait at one signal, and Node.js takes the eleventh listener for a leak
  let pauseMs = 1
  const onHeld = async () => {
    pauseMs = Math.min(pauseMs * 2, 25)
    await wait(pauseMs * (0.5 + Math.random()), undefined, ours && { signal: ours })
    return false
  }
  try {
    signal?.throwIfAborted() // also when the lock is free
    const { release } = await takeLock(directory, { onHeld, forgetPast: true, sync: false })
    return release
  } catch (error) {
    if (!signal?.aborted) throw lockError(error, directory)
    const message = 'Stopped while waiting for the session. Nothing was run.'
    throw new SessionError('ERR_SESSION_ABORTED', message, { cause: error })
  }
}

/** The process that holds the lock, for messages. */
export function holderOf(directory: string): string {
  const { record } = readHolder(directory) ?? {}
  return record ? `process ${record.pid} on ${record.host}` : 'another process'
}

/** System errors of a lock directory that is a file, or has a pipe, a directory or a link in it. */
const WRONG_KIND = new Set(['ENOTDIR', 'EISDIR', 'ESPIPE', 'ENODEV', 'ELOOP', 'EOVERFLOW'])

function lockError(error: unknown, directory: string): unknown {
  const code = systemCode(error) ?? ''
  if (code === 'ENOENT' ? existsSync(dirname(directory)) : WRONG_KIND.has(code))
    return damaged(directory, error)
  if (code !== 'ENOENT') return error
  return new SessionError('ERR_SESSION_UNKNOWN', 'The session was ended meanwhile. Start a new one.', {
    cause: error,
  })
}
