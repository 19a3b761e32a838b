import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createFile, readIfThere, syncPath } from '@delta/durable'
import {
  CREDENTIALS,
  type Credentials,
  credentialsAbove,
  keyNamesOf,
  secretValues,
} from '@delta/executor/internal'
import { damaged, isSessionError, systemCode } from './errors.js'
import { readWhole, type SessionPaths } from './store.js'

/** Environment variables by name. Values are bytes, because they need not be UTF-8. */
export type Variables = Map<string, Buffer>

/** Variables of the caller of each command, not of the session: those of a run, and the depth of its shells. */
const OF_CALLER = /^(?:DELTA_.*|AGENT_HOME|CWD|JOURNAL_PATH|RUN_DIR|SHLVL)$/

/** Variables that a shell sets by itself, and the one that marks our processes. */
const NEVER_STORED = /^(?:_|SHLVL|__delta_.*|DELTA_SESSION)$/

/** Shorter values are too common to be taken for a secret. */
const MIN_SECRET_BYTES = 6

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

/** The same for people, and for a shell to source. A name that no shell can export is left out. */
function formatExports(variables: Variables): Buffer {
  const lines = [...variables]
    .filter(([name]) => /^[A-Za-z_]\w*$/.test(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `export ${name}='${value.toString('latin1').replaceAll("'", "'\\''")}'\n`)
  return Buffer.from(lines.join(''), 'latin1')
}

export function variablesOf(environment: NodeJS.ProcessEnv): Variables {
  return new Map(
    Object.entries(environment).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Buffer.from(value)] as const],
    ),
  )
}

/** The variables of a command: those the session remembers, and from its caller those the session never stores. */
export function variablesFor(
  remembered: Variables,
  caller: Variables,
  secretNames: readonly string[],
): Variables {
  const secret = namesOfSecrets(caller, secretNames)
  const given = [...caller].filter(([name]) => OF_CALLER.test(name) || secret.has(name))
  return new Map([...given, ...remembered])
}

/**
 * The part of a command's final environment that the session stores. Left out are secrets, whatever their name
 * (`withheld` has the names), and variables of the caller that the command did not change.
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
    if (OF_CALLER.test(name) && caller.get(name)?.equals(value)) continue
    if (secrets.isIn(value)) withheld.push(name)
    else variables.set(name, value)
  }
  return { variables, withheld }
}

/** What must not be stored. */
export interface Secrets {
  /** Variables that are never stored, whatever they hold. */
  names: ReadonlySet<string>
  /** Their values that are long enough to be searched for. */
  values: readonly string[]
  /** Whether one of the values is part of the bytes. */
  isIn(bytes: Buffer | string): boolean
}

/** The secrets of a session: credentials, also those that the engine which started this command names, and what was declared secret at its start. */
export function secretsOf(caller: Variables, secretNames: readonly string[]): Secrets {
  const names = namesOfSecrets(caller, secretNames)
  const known = [...names].flatMap((name) => caller.get(name) ?? [])
  const values = [...known, ...secretValues(givenTo(caller)).map((key) => Buffer.from(key))].filter(
    ({ length }) => length >= MIN_SECRET_BYTES,
  )
  const latin1 = values.map((value) => value.toString('latin1'))
  return {
    names,
    values: values.map(String),
    isIn: (bytes) => {
      const text = bytes.toString('latin1') // strings here have one character a byte, see shell.ts
      return latin1.some((value) => text.includes(value))
    },
  }
}

/** The variables that are never stored: keys of models, also under the names that the engine above has for them. */
function namesOfSecrets(caller: Variables, secretNames: readonly string[]): Set<string> {
  return new Set([CREDENTIALS, ...keyNamesOf(givenTo(caller)), ...secretNames])
}

/** The credentials that the engine which started this command gave it. */
function givenTo(caller: Variables): Credentials {
  const given = caller.get(CREDENTIALS)?.toString()
  return credentialsAbove({ [CREDENTIALS]: given }) ?? { pairs: [], env: {} }
}

/** The longest `NAME=value` Linux gives to a program, without the NUL at its end. */
const MAX_ENTRY_BYTES = 128 * 1024 - 1

/** Names the exported variables that keep other programs from starting; empty without such variables. */
export function largeNotice(variables: Variables): string[] {
  if (process.platform !== 'linux') return []
  const large = [...variables].filter(([name, value]) => name.length + 1 + value.length > MAX_ENTRY_BYTES)
  if (large.length === 0) return []
  const names = large.map(([name, value]) => `${name} (${value.length} bytes)`).join(', ')
  return [
    `Exported, but too large for the environment of other programs: ${names}. The session keeps them, but programs fail to start ("Argument list too long") until they are unset, or no longer exported.`,
  ]
}

/** The digests of a state's files, as `sha256sum -c` reads them. */
const SUMS = 'SHA256SUMS'

/** State of a session between two commands. */
export interface SessionState {
  variables: Variables
  workDirectory: string
  /** The driver's own file: its name and what is in it. */
  own?: { name: string; bytes: Buffer }
}

export interface StoredState extends SessionState {
  /** Number of the state: 1, 2, 3 … */
  number: number
  /** Path of the driver's file in this state, which may not exist. */
  ownPath: string
}

/**
 * Reads the state that the last finished command left.
 *
 * @throws {SessionError} `ERR_SESSION_DAMAGED`: the state is missing, or is not what was stored.
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
 * Compares each file with its digest. After a power cut, a disk that does not sync when told to can leave half a file or zeros, and
 * a shell would read that as a state with less in it. Who edits a state removes its digests.
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
  rmSync(directory, { recursive: true, force: true }) // a crash may have left it half written
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  for (const { name, bytes } of filesOf(state)) createFile(join(directory, name), bytes)
  createFile(join(directory, SUMS), sumsOf(state))
  createFile(join(directory, 'env.sh'), formatExports(state.variables)) // never read, so it has no digest
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
