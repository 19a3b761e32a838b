import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createFile, readIfThere, syncPath } from '@delta/durable'
import { formatVariables, parseVariables, type Variables } from './environment.js'
import { damaged, isSessionError, systemCode } from './errors.js'
import { readWhole, type SessionPaths } from './store.js'

/** The digests of a state's files, as `sha256sum -c` reads them. */
const SUMS = 'SHA256SUMS'

/** What a session remembers between two commands. */
export interface SessionState {
  variables: Variables
  workDirectory: string
  /** The driver's own file: its name and what is in it. */
  own?: { name: string; bytes: Buffer }
}

export interface StoredState extends SessionState {
  /** Number of the state: 1, 2, 3 … */
  number: number
  /** Where the driver's file of this state is, or would be. */
  ownPath: string
}

/**
 * Reads the state the last finished command left.
 *
 * @throws {SessionError} `ERR_SESSION_DAMAGED`: it is missing, or not what was stored.
 */
export function readState(paths: SessionPaths, ownName: string): StoredState {
  try {
    return readCurrent(paths, ownName)
  } catch (error) {
    if (isSessionError(error) || systemCode(error) === undefined) throw error
    throw damaged(paths.current, error)
  }
}

function readCurrent(paths: SessionPaths, ownName: string): StoredState {
  const number = Number(basename(readlinkSync(paths.current)))
  const directory = join(paths.states, String(number))
  const ownPath = join(directory, ownName)
  const own = readIfThere(ownPath)
  checkSums(directory)
  return {
    number,
    ownPath,
    variables: parseVariables(readWhole(join(directory, 'env'))),
    workDirectory: readWhole(join(directory, 'work_dir.txt')).toString('utf8').replace(/\n$/, ''),
    ...(own !== undefined && { own: { name: ownName, bytes: own } }),
  }
}

/**
 * A disk that lies about a sync can leave half a file, or zeros, after a power cut. A shell would read that as a state with less in it,
 * so each file is compared with its digest. States of earlier versions have none.
 */
function checkSums(directory: string): void {
  const sumsPath = join(directory, SUMS)
  const sums = readIfThere(sumsPath)
  if (sums === undefined) return
  for (const line of sums.toString('utf8').split('\n').filter(Boolean)) {
    const [digest, name = ''] = line.split('  ')
    const path = join(directory, name)
    if (digestOf(readWhole(path)) !== digest)
      throw damaged(path, undefined, `\nIf you changed the file yourself, remove ${sumsPath}.`)
  }
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/**
 * Writes a state beside the old one and makes it the current one by renaming a link. A crash, or a
 * power cut, at any instant leaves the old state or the new, whole.
 */
export function commitState(paths: SessionPaths, state: SessionState, number: number): void {
  const directory = join(paths.states, String(number))
  rmSync(directory, { recursive: true, force: true }) // what a crash left half written
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  for (const { name, bytes } of filesOf(state)) createFile(join(directory, name), bytes)
  createFile(join(directory, SUMS), sumsOf(state))
  for (const path of [directory, paths.states]) syncPath(path)

  const link = `${paths.current}.new`
  rmSync(link, { force: true })
  symlinkSync(join('states', String(number)), link)
  renameSync(link, paths.current)
  syncPath(paths.directory)
  for (const other of readdirSync(paths.states)) {
    if (other !== String(number)) rmSync(join(paths.states, other), { recursive: true, force: true })
  }
}

/** True when committing `next` would change nothing. */
export function isSameState(current: SessionState, next: SessionState): boolean {
  return sumsOf(current) === sumsOf(next)
}

function filesOf({ variables, workDirectory, own }: SessionState): { name: string; bytes: Buffer }[] {
  return [
    { name: 'env', bytes: formatVariables(variables) },
    { name: 'work_dir.txt', bytes: Buffer.from(`${workDirectory}\n`) },
    ...(own ? [own] : []),
  ]
}

function sumsOf(state: SessionState): string {
  return filesOf(state)
    .map(({ name, bytes }) => `${digestOf(bytes)}  ${name}\n`)
    .join('')
}
