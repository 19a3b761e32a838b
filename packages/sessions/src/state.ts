import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createFile, readIfThere, syncPath } from '@delta/durable'
import { CREDENTIAL_NAMES } from '@delta/executor/internal'
import { damaged, isSessionError, systemCode } from './errors.js'
import { readWhole, type SessionPaths } from './store.js'

/** Environment variables by name. Values are bytes: nothing says that they are text. */
export type Variables = Map<string, Buffer>

/** Belongs to the caller of each command, not to the session; see `rememberedVariables`. */
const CALLER_NAMES = [
  'AGENT_HOME',
  'CWD',
  'DELTA_ACTION_ID',
  'DELTA_AGENT_HOME',
  'DELTA_CALLS',
  'DELTA_CWD',
  'DELTA_DEPTH',
  'DELTA_PARENT_RUN',
  'DELTA_RUN_DIR',
  'DELTA_RUN_ID',
  'JOURNAL_PATH',
  'RUN_DIR',
  'SHLVL',
]

/** What a shell sets by itself, and what marks our processes. */
const NEVER_STORED = /^(?:_|SHLVL|__delta_.*|DELTA_SESSION)$/

/** Shorter values are too common to take for a secret. */
const SHORTEST_SECRET = 6

/** Whether a shell can have a variable of this name. */
export function isName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
}

/** The NUL-separated form of `env -0` and of the file on disk. The last of two equal names counts. */
function parseVariables(bytes: Buffer): Variables {
  const entries = bytes.toString('latin1').split('\0').filter(Boolean)
  return new Map(
    entries.map((entry) => {
      const [name = '', value = ''] = entry.split(/=(.*)/s, 2)
      return [Buffer.from(name, 'latin1').toString('utf8'), Buffer.from(value, 'latin1')]
    }),
  )
}

/** Sorted by name, so that equal environments are equal files. */
export function formatVariables(variables: Variables): Buffer {
  const entries = [...variables].sort(([a], [b]) => (a < b ? -1 : 1))
  const end = Buffer.alloc(1)
  return Buffer.concat(entries.flatMap(([name, value]) => [Buffer.from(`${name}=`), value, end]))
}

export function variablesOf(environment: NodeJS.ProcessEnv): Variables {
  return new Map(
    Object.entries(environment).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Buffer.from(value)] as const],
    ),
  )
}

/** What a command gets: what the session remembers, and from its caller what the session never stores. */
export function variablesFor(
  remembered: Variables,
  caller: Variables,
  secretNames: readonly string[],
): Variables {
  const given = [...CALLER_NAMES, ...CREDENTIAL_NAMES, ...secretNames].flatMap((name) => {
    const value = caller.get(name)
    return value === undefined || remembered.has(name) ? [] : [[name, value] as const]
  })
  return new Map([...remembered, ...given])
}

/**
 * Of a command's final environment, what the session stores. Left out are secrets, under whatever
 * name they stand (those that hold one are named in `withheld`), and variables of the caller that the
 * command did not change.
 */
export function rememberedVariables(
  final: Variables,
  caller: Variables,
  secrets: Secrets,
): { variables: Variables; withheld: string[] } {
  const variables: Variables = new Map()
  const withheld: string[] = []
  for (const [name, value] of final) {
    if (NEVER_STORED.test(name) || secrets.names.has(name)) continue
    if (CALLER_NAMES.includes(name) && caller.get(name)?.equals(value)) continue
    if (secrets.isIn(value)) withheld.push(name)
    else variables.set(name, value)
  }
  return { variables, withheld }
}

/** What must not be stored. */
export interface Secrets {
  /** Variables that are never stored, whatever they hold. */
  names: ReadonlySet<string>
  /** The values they have, as far as those are long enough to be told from anything else. */
  values: readonly string[]
  /** Whether one of the values is in some bytes. */
  isIn(bytes: Buffer | string): boolean
}

/** The secrets of a session: credentials, and the variables that were declared to hold some. */
export function secretsOf(caller: Variables, secretNames: readonly string[]): Secrets {
  const names = new Set([...CREDENTIAL_NAMES, ...secretNames])
  const values = [...names].flatMap((name) => {
    const value = caller.get(name)
    return value && value.length >= SHORTEST_SECRET ? [value] : []
  })
  const latin1 = values.map((value) => value.toString('latin1'))
  return {
    names,
    values: values.map(String),
    isIn: (bytes) => {
      const text = bytes.toString('latin1') // a text of ours has one character a byte, see shell.ts
      return latin1.some((value) => text.includes(value))
    },
  }
}

/** The longest `NAME=value` Linux gives to a program, without the NUL at its end. */
const LONGEST_ENTRY = 128 * 1024 - 1

/** Says which exported variables keep other programs from being started; empty when there are none. */
export function largeNotice(variables: Variables): string[] {
  if (process.platform !== 'linux') return []
  const large = [...variables].filter(([name, value]) => name.length + 1 + value.length > LONGEST_ENTRY)
  if (large.length === 0) return []
  const names = large.map(([name, value]) => `${name} (${value.length} bytes)`).join(', ')
  return [
    `Exported, but too large for the environment of other programs: ${names}. The session keeps them, but programs fail to start ("Argument list too long") until they are unset, or no longer exported.`,
  ]
}

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
