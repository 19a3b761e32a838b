import { type BigIntStats, lstatSync, readdirSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import picomatch from 'picomatch'
import { type Bytes, bytesOf, pathOf, textOf } from './bytes.js'
import type { Slices } from './slices.js'

/** One of the directories that make a snapshot. */
export interface Root {
  /** May be missing: then the snapshot has no such root. */
  directory: string
  /** Paths that are left out without a word; absolute, or relative to `directory`. */
  exclude?: string[] | undefined
}

/** A path that is not in a snapshot. */
export interface Omitted {
  root: string
  /** Relative to the root; what is not UTF-8 is shown as U+FFFD. */
  path: string
  /**
   * - `ignored`: it matches `ignore`. `fifo`, `socket`, `device`: it has no contents.
   * - `large`: it is longer than 100 MB.
   * - `unreadable`: the system refuses it.
   * - `changing`: it was written to while it was read, twice.
   * - `snapshots`: it is a store.
   */
  why: 'ignored' | 'fifo' | 'socket' | 'device' | 'large' | 'unreadable' | 'changing' | 'snapshots'
  /** Size of a `large` file. */
  bytes?: number
}

/** A file or link, as `lstat` sees it. When nothing of it differs, its contents are the same. */
export interface Status {
  kind: 'file' | 'link'
  /** Permissions and the three special bits. */
  mode: number
  size: number
  mtimeNs: bigint
  ctimeNs: bigint
  inode: bigint
  /** It changed so shortly before it was read that the clock could hide another change. Such a file is read again. */
  isFresh: boolean
}

/** A directory: what is its own, and its files and links by name. */
export interface Directory {
  /** Absolute. */
  place: Bytes
  mode: number
  mtimeNs: bigint
  entries: Map<Bytes, Status>
}

/** The directories of all roots by path, which begins with the name of the root; each after the one above it. */
export type Tree = Map<Bytes, Directory>

/** What a walk needs to know. */
export interface WalkOptions {
  ignore: string[]
  /** Absolute path of the store that is written: it may lie in the tree. */
  store: string
  slices: Slices
}

/** A file that is larger is omitted. */
export const LARGEST_FILE = 100_000_000

/** What a walk has found so far. */
export interface Found {
  tree: Tree
  omitted: Omitted[]
}

/**
 * Looks at every file below the roots, and reads none.
 *
 * @param found - What it finds is added here.
 * @throws The system's error where it fails in a way that is not the file's own (`EIO`, `ENOTDIR` for a root that is a file).
 */
export async function walk(roots: Record<string, Root>, found: Found, options: WalkOptions): Promise<void> {
  const isIgnored = ignores(options.ignore)
  for (const [name, { directory, exclude = [] }] of Object.entries(roots)) {
    const top = realPath(directory)
    if (top === undefined) continue
    readdirSync(top) // a root that is a file, or may not be listed, is not a root with nothing in it
    const excluded = new Set([options.store, ...exclude].flatMap((path) => placesOf(path, top)))
    await walkRoot(top, { ...found, name, excluded, isIgnored, slices: options.slices, pending: [] })
  }
}

/** The walk through one root. */
interface Walk extends Found {
  name: string
  excluded: Set<Bytes>
  isIgnored: (path: Bytes, name: Bytes) => boolean
  slices: Slices
  /** Directories that are still to be listed. */
  pending: Pending[]
}

interface Pending {
  place: Bytes
  /** Relative to the root, ended by `/`; empty for the root itself. */
  prefix: Bytes
  status: BigIntStats
}

async function walkRoot(top: string, walk: Walk): Promise<void> {
  const { pending } = walk
  pending.push({ place: bytesOf(top), prefix: '', status: lstatSync(top, { bigint: true }) })
  for (let directory = pending.pop(); directory; directory = pending.pop()) {
    const names = namesIn(directory.place)
    if (names === undefined) omit(directory.prefix.slice(0, -1), 'unreadable', walk)
    else await addDirectory(names, directory, walk)
  }
}

async function addDirectory(names: Bytes[], directory: Pending, walk: Walk): Promise<void> {
  const { place, prefix, status } = directory
  const entries = new Map<Bytes, Status>()
  const path = `${walk.name}/${prefix}`.slice(0, -1)
  walk.tree.set(path, { place, mode: modeOf(status), mtimeNs: status.mtimeNs, entries })
  for (const name of names) {
    const pause = walk.slices.pause()
    if (pause) await pause
    addEntry(name, directory, entries, walk)
  }
}

function addEntry(name: Bytes, directory: Pending, entries: Map<Bytes, Status>, walk: Walk): void {
  const path = directory.prefix + name
  const place = `${directory.place}/${name}`
  if (walk.excluded.has(place)) return
  const found = walk.isIgnored(path, name) ? 'ignored' : statusAt(place)
  if (found === 'gone') return
  if (typeof found === 'string') omit(path, found, walk)
  else if (found.isDirectory()) addBelow({ place, prefix: `${path}/`, status: found }, walk)
  else if (found.isSymbolicLink()) entries.set(name, statusOf(found))
  else if (!found.isFile()) omit(path, kindOf(found), walk)
  else if (found.size > LARGEST_FILE) omit(path, 'large', walk, { bytes: Number(found.size) })
  else entries.set(name, statusOf(found))
}

function addBelow(directory: Pending, walk: Walk): void {
  if (STORE.test(directory.prefix)) omit(directory.prefix.slice(0, -1), 'snapshots', walk)
  else walk.pending.push(directory)
}

function omit(path: Bytes, why: Omitted['why'], walk: Walk, more: { bytes?: number } = {}): void {
  walk.omitted.push({ root: walk.name, path: textOf(path), why, ...more })
}

/** The store of a run whose workspace lies below ours. */
const STORE = /(?:^|\/)\.delta\/[^/]+\/snapshots\/$/

/** Undefined for a missing directory. */
function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Where a path meets the walk, which goes by real paths: the file itself, and what a link leads to. Not there: nowhere. */
function placesOf(path: string, top: string): Bytes[] {
  const absolute = resolve(top, path)
  const directory = realPath(dirname(absolute))
  const places = [directory && join(directory, basename(absolute)), realPath(absolute)]
  return places.flatMap((place) => (place === undefined ? [] : [bytesOf(place)]))
}

/** The names in a directory. Undefined: the system refuses to list it. A directory that has gone is listed as empty. */
function namesIn(place: Bytes): Bytes[] | undefined {
  try {
    return readdirSync(pathOf(place), 'latin1')
  } catch (error) {
    if (isGone(error)) return []
    if (isRefusal(error)) return undefined
    throw error
  }
}

/** What `lstat` says. */
export function statusAt(place: Bytes): BigIntStats | 'gone' | 'unreadable' {
  try {
    return lstatSync(pathOf(place), { bigint: true })
  } catch (error) {
    if (isGone(error)) return 'gone'
    if (isRefusal(error)) return 'unreadable'
    throw error
  }
}

function kindOf(status: BigIntStats): 'fifo' | 'socket' | 'device' {
  if (status.isFIFO()) return 'fifo'
  return status.isSocket() ? 'socket' : 'device'
}

/** What is kept of a file's or link's status. */
export function statusOf(status: BigIntStats): Status {
  return {
    kind: status.isFile() ? 'file' : 'link',
    mode: modeOf(status),
    size: Number(status.size),
    mtimeNs: status.mtimeNs,
    ctimeNs: status.ctimeNs,
    inode: status.ino,
    isFresh: false,
  }
}

function modeOf(status: BigIntStats): number {
  return Number(status.mode) & 0o7777
}

/** Patterns of picomatch, matched against the path below the root; one without `/` against each name. */
function ignores(patterns: string[]): (path: Bytes, name: Bytes) => boolean {
  const written = patterns.map((pattern) => pattern.replace(/\/$/, ''))
  const [ofPath, ofName] = [true, false].map((hasSlash) => {
    const chosen = written.filter((pattern) => pattern.includes('/') === hasSlash)
    const matches = picomatch(chosen, { dot: true })
    return chosen.length === 0 ? () => false : (bytes: Bytes) => matches(textOf(bytes))
  }) as [(bytes: Bytes) => boolean, (bytes: Bytes) => boolean]
  return (path, name) => ofName(name) || ofPath(path)
}

/** Whether it went away while we looked. */
export function isGone(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')
}

/** Whether the system refuses this one file: another user's, or a path that is too long for any program. */
export function isRefusal(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'ENAMETOOLONG', 'ELOOP'].includes(codeOf(error) ?? '')
}

/** The code of a system error, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}
