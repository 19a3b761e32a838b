import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { type Dirent, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SnapshotError } from './errors.js'

/** Where a store lies, and how git writes into it. */
export interface Objects {
  /** Absolute path of `objects/`. */
  directory: string
  /** False: a power cut may lose the last snapshots. */
  sync: boolean
}

/** A running git. */
export interface Git {
  child: ChildProcessWithoutNullStreams
  /** Resolves once git has ended well and its private directory is gone. Rejects with a `SnapshotError`; never unhandled. */
  ended: Promise<void>
}

/**
 * Starts git on a store and on nothing else. Whoever can write into the store (a tool of the run that it belongs to) could place
 * a `config` or hooks beside the objects, and both are code: so git gets a directory of its own, made for this process.
 *
 * It leads its own process group: Ctrl+C at a terminal does not end it in the middle of a snapshot. When our process dies, its
 * input ends, and so does git.
 *
 * @throws {SnapshotError} `ERR_SNAPSHOT_NO_GIT`, `ERR_SNAPSHOT_DAMAGED`.
 */
export async function startGit(objects: Objects, argv: string[]): Promise<Git> {
  await checkVersion()
  checkObjects(objects.directory)
  const directory = makeGitDirectory(objects.sync)
  const child = spawn('git', argv, { cwd: directory, env: environment(directory, objects), detached: true })
  child.stdin.on('error', () => {}) // git ended without reading all: how it ended says why
  const ended = endOf(child, argv[0]).finally(() => rmSync(directory, { recursive: true, force: true }))
  ended.catch(() => {}) // whoever awaits it gets the error; a caller that fails earlier does not await it
  return { child, ended }
}

/** All but the last words of git are of no use in a message. */
const STDERR_LENGTH = 2000

function endOf(child: ChildProcessWithoutNullStreams, command = ''): Promise<void> {
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_LENGTH)
  })
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(startError(error)))
    child.on('close', (code, signal) => {
      if (code === 0) resolve()
      else {
        const words = stderr.trim().split('\n')[0] || `it ended with ${signal ?? `exit code ${code}`}`
        reject(new SnapshotError('ERR_SNAPSHOT_GIT', `git ${command}: ${words}`))
      }
    })
  })
}

function startError(cause: NodeJS.ErrnoException): SnapshotError {
  if (cause.code === 'ENOENT') return noGit('is not installed', cause)
  return new SnapshotError('ERR_SNAPSHOT_GIT', `git does not start: ${cause.message}`, { cause })
}

function noGit(what: string, cause?: unknown): SnapshotError {
  const message = `git 2.25 or newer is needed to take and open snapshots; it ${what}.`
  return new SnapshotError('ERR_SNAPSHOT_NO_GIT', message, { cause })
}

let checked: Promise<void> | undefined

/** Asks git once in a process; a failure is asked again, as git may be installed meanwhile. */
function checkVersion(): Promise<void> {
  checked ??= new Promise<void>((resolve, reject) => {
    execFile('git', ['--version'], (error, stdout) => {
      if (error) return reject(startError(error as NodeJS.ErrnoException))
      const [text = '', major, minor] = /(\d+)\.(\d+)[.\w]*/.exec(stdout) ?? []
      const isNew = Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 25)
      return isNew ? resolve() : reject(noGit(`is ${text || 'of an unknown version'}`))
    })
  }).catch((error) => {
    checked = undefined
    throw error
  })
  return checked
}

/**
 * Git would follow what leads out of the store to objects of others: `info/alternates`, and links. `take` makes neither.
 *
 * @throws {SnapshotError} `ERR_SNAPSHOT_DAMAGED`.
 */
export function checkObjects(directory: string): void {
  const wrong = wayOutOf(directory)
  if (wrong === undefined) return
  throw new SnapshotError(
    'ERR_SNAPSHOT_DAMAGED',
    `${wrong}: no snapshot puts this there, and git could read objects of others through it. Remove it.`,
  )
}

/** The path that leads out of the objects of a store, if there is one. */
export function wayOutOf(directory: string): string | undefined {
  const isThere = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined
  const odd = [directory, join(directory, 'pack'), join(directory, 'info')].find(
    (path) => isThere(path) && !lstatSync(path).isDirectory(),
  )
  const alternates = join(directory, 'info', 'alternates')
  return odd ?? (isThere(alternates) ? alternates : firstLink(join(directory, 'pack')))
}

function firstLink(pack: string): string | undefined {
  const link = entriesIn(pack).find((entry) => !entry.isFile())
  return link && join(pack, link.name)
}

/** What lies in a directory; nothing when it does not exist. */
export function entriesIn(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function makeGitDirectory(sync: boolean): string {
  const directory = mkdtempSync(join(tmpdir(), 'delta-snapshots-'))
  mkdirSync(join(directory, 'refs'))
  writeFileSync(join(directory, 'HEAD'), 'ref: refs/heads/main\n')
  writeFileSync(join(directory, 'config'), sync ? CONFIG : `${CONFIG}[core]\n\tfsync = none\n`)
  return directory
}

const CONFIG = `[core]
	repositoryformatversion = 0
	bare = true
	compression = 1
	bigFileThreshold = 16m
	protectNTFS = false
	protectHFS = false
	commitGraph = false
	multiPackIndex = false
[pack]
	compression = 1
[fastimport]
	unpackLimit = 0
[gc]
	auto = 0
`

function environment(gitDirectory: string, objects: Objects): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))
  return {
    ...Object.fromEntries(others),
    GIT_DIR: gitDirectory,
    GIT_OBJECT_DIRECTORY: objects.directory,
    HOME: gitDirectory,
    XDG_CONFIG_HOME: gitDirectory,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_ALLOW_PROTOCOL: '',
    GIT_NO_LAZY_FETCH: '1',
    LC_ALL: 'C',
  }
}
