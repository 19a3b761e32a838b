import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Bytes, textOf } from './bytes.js'
import { type Changes, compareTrees, isSame, type ToRead } from './compare-trees.js'
import { isSnapshotError, type SnapshotErrorCode } from './errors.js'
import { type FastImport, startFastImport } from './fast-import.js'
import { entriesIn, type Objects, wayOutOf } from './git.js'
import { escapePath, META_NAME } from './names.js'
import { readEntry } from './read-entry.js'
import { type Slices, slices } from './slices.js'
import {
  codeOf,
  type Directory,
  type Found,
  type Omitted,
  type Root,
  type Status,
  type Tree,
  walk,
} from './walk.js'

/** How a snapshot is taken. */
export interface TakeOptions {
  /** For people who look with git; not part of the contents. */
  label?: string | undefined
  /** Patterns of picomatch for paths that are left out and named; one without `/` matches a name at any depth. */
  ignore?: string[] | undefined
  /** The most bytes that the store may have: a snapshot that could pass it is not taken. */
  maxBytes?: number | undefined
  /** Gives the snapshot up (`reason: 'time'`), unless everything was read before. */
  signal?: AbortSignal | undefined
}

/** What was taken, or why nothing was. */
export interface Snapshot {
  /** Null: nothing was taken. Equal to the one before when nothing had changed since. */
  id: string | null
  /** The same for the same files (names, contents, executable or not) in every store. Null without a root `files`. */
  filesId: string | null
  /** Without the waiting for other snapshots. */
  durationMs: number
  /** Files and links that are new, changed or gone since the snapshot before. */
  changed: number
  /** Contents that were read and handed to git: uncompressed, and counted also where the store had them. */
  bytes: number
  /** Everything that is not in it. When `id` is null, what was seen so far. */
  omitted: Omitted[]
  /**
   * - `time`: the signal came first. What was read so far stays in the store, so the next attempt is shorter.
   * - `budget`: it could pass `maxBytes`. `git`: git is missing, too old, or failed. `io`: the disk failed.
   */
  reason?: 'time' | 'budget' | 'git' | 'io'
  /** With `git`: what failed. */
  code?: SnapshotErrorCode
  message?: string
  /** With `time`: how many of the files that changed the store has. They stay. */
  stored?: number
  /** When it was given up (`time`, `budget`): the five largest directories at the first level of the roots, to be ignored perhaps. */
  largest?: { root: string; path: string; bytes: number }[]
}

/** What a store remembers from one snapshot to the next, so that only changes are read. */
export interface Memory {
  last: { id: string; filesId: string | null } | undefined
  tree: Tree
  /** Contents that git got for a snapshot that was given up, by path. */
  stored: Map<Bytes, { status: Status; blob: string }>
}

/** The memory of a process that has taken none yet. */
export function emptyMemory(): Memory {
  return { last: undefined, tree: new Map(), stored: new Map() }
}

/** A store that is written to. */
export interface Target {
  objects: Objects
  /** Absolute path of the store. */
  directory: string
  memory: Memory
  bytes(): number
  /** Creates what is missing of it. */
  prepare(): void
  /** Lets the store know of work that goes on when `takeSnapshot` has returned. */
  goOn(work: Promise<void>): void
}

/** One call of `take`: what it has found and done so far. */
interface Attempt extends Found {
  target: Target
  options: TakeOptions & { signal: AbortSignal }
  slices: Slices
  changed: number
  bytes: number
  git: FastImport | undefined
  /** What git got, in order. */
  sent: { path: Bytes; status: Status }[]
}

/**
 * Takes a snapshot. Does not reject for a reason outside the program: `reason` says why there is none.
 *
 * @throws {TypeError} A root's name is not one; what picomatch throws for a pattern that is not one.
 */
export async function takeSnapshot(
  target: Target,
  roots: Record<string, Root>,
  options: TakeOptions & { signal: AbortSignal },
): Promise<Snapshot> {
  checkRoots(roots)
  const started = performance.now()
  const work = slices(() => checkSignal(options.signal))
  const state = { tree: new Map(), omitted: [], changed: 0, bytes: 0, git: undefined, sent: [] }
  const attempt: Attempt = { target, options, slices: work, ...state }
  const result = await snapshotOf(roots, attempt).catch((error: unknown) => giveUp(attempt, error))
  const { changed, bytes, omitted } = attempt
  return { ...result, durationMs: Math.round(performance.now() - started), changed, bytes, omitted }
}

function checkRoots(roots: Record<string, Root>): void {
  const wrong = Object.keys(roots).find((name) => !/^[a-z]+$/.test(name) || name === 'meta')
  if (wrong !== undefined)
    throw new TypeError(`A root needs a name of lower-case letters, and not "meta": ${wrong}`)
}

async function snapshotOf(
  roots: Record<string, Root>,
  attempt: Attempt,
): Promise<{ id: string; filesId: string | null }> {
  const { target, options, tree } = attempt
  const { memory } = target
  checkSignal(options.signal)
  await walk(roots, attempt, {
    ignore: options.ignore ?? [],
    store: target.directory,
    slices: attempt.slices,
  })
  const changes = await compareTrees(memory.tree, tree, attempt.slices)
  attempt.changed = changes.count
  if (memory.last && changes.touched.size + changes.goneDirectories.length === 0) return memory.last
  checkBudget(changes, attempt)

  target.prepare()
  attempt.git = await startFastImport(target.objects, options.signal)
  const placed = await sendContents(changes, attempt, attempt.git)
  checkSignal(options.signal) // from here on nothing outside can change what the snapshot holds
  await sendCommit(changes, placed, attempt, attempt.git)
  const { id, filesId } = await attempt.git.finish()
  memory.last = { id, filesId: filesId ?? ('files' in roots ? EMPTY_TREE : null) }
  memory.tree = tree
  memory.stored.clear()
  return memory.last
}

/** The id of a tree without entries, which git writes nowhere. */
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

function checkSignal(signal: AbortSignal): void {
  if (signal.aborted) throw new GivenUp('time', 'The snapshot was given up before everything was read.')
}

function checkBudget({ toRead }: Changes, { target, options }: Attempt): void {
  const { maxBytes } = options
  if (maxBytes === undefined) return
  const isNew = ({ path, status }: ToRead) => storedBlob(path, status, target.memory) === undefined
  const needed = toRead.filter(isNew).reduce((sum, { status }) => sum + status.size, 0)
  const used = target.bytes()
  if (used + needed <= maxBytes) return
  const what = `The store has ${used} bytes, and what changed has up to ${needed} more`
  throw new GivenUp('budget', `${what}: together more than the ${maxBytes} allowed.`)
}

/** The blob of a file or link that git got for an earlier attempt. */
function storedBlob(path: Bytes, status: Status, { stored }: Memory): string | undefined {
  const known = stored.get(path)
  return known && isSame(known.status, status) ? known.blob : undefined
}

/** A changed file or link, and the contents that it has now. */
interface Placed {
  path: Bytes
  status: Status
  blob: number | string
}

/** Reads what changed, and sends it. What cannot be read is taken out of the tree again. */
async function sendContents({ toRead, gone }: Changes, attempt: Attempt, git: FastImport): Promise<Placed[]> {
  const { slices, options, target, sent, omitted } = attempt
  const placed: Placed[] = []
  for (const { path, name, status, directory, isKnown } of toRead) {
    const blob = storedBlob(path, status, target.memory)
    if (blob !== undefined) {
      placed.push({ path, status, blob })
      continue
    }
    const contents = await readEntry(`${directory.place}/${name}`, status, slices)
    if (typeof contents === 'string') {
      directory.entries.delete(name)
      if (isKnown) gone.push(path)
      if (contents !== 'gone') omitted.push({ ...splitRoot(path), why: contents })
      continue
    }
    directory.entries.set(name, contents.status)
    attempt.bytes += contents.bytes.length
    await git.sendBlob(contents.bytes)
    sent.push({ path, status: contents.status })
    placed.push({ path, status: contents.status, blob: sent.length })
    checkSignal(options.signal)
    const pause = slices.pause()
    if (pause) await pause
  }
  return placed
}

function splitRoot(path: Bytes): { root: string; path: string } {
  const end = path.indexOf('/')
  return { root: path.slice(0, end), path: textOf(path.slice(end + 1)) }
}

/** Sends the changes: first what is gone, as a file may stand where a directory was. */
async function sendCommit(
  { gone, goneDirectories, touched }: Changes,
  placed: Placed[],
  { tree, target, options }: Attempt,
  git: FastImport,
): Promise<void> {
  const work = slices()
  await git.beginCommit({ label: options.label ?? 'snapshot', from: target.memory.last?.id })
  for (const path of gone) await git.remove(escapePath(path))
  for (const path of goneDirectories.map(escapePath)) {
    await git.remove(path)
    await git.remove(`meta/${path}`)
  }
  for (const { path, status, blob } of placed) {
    await git.put(escapePath(path), gitMode(status), blob)
    await work.pause()
  }
  for (const path of touched) {
    const directory = tree.get(path)
    if (directory) await git.putInline(`meta/${escapePath(path)}/${META_NAME}`, metaOf(directory))
    await work.pause()
  }
}

function gitMode({ kind, mode }: Status): '100644' | '100755' | '120000' {
  if (kind === 'link') return '120000'
  return mode & 0o100 ? '100755' : '100644'
}

/** What git lacks of a directory, and of the files and links in it. */
function metaOf({ mode, mtimeNs, entries }: Directory): Bytes {
  const line = (status: { mode: number; mtimeNs: bigint }, name: Bytes) =>
    `${status.mode.toString(8)} ${status.mtimeNs} ${name}\0`
  const lines = [...entries.keys()].sort().map((name) => {
    const status = entries.get(name)
    return status ? line(status, name) : ''
  })
  return line({ mode, mtimeNs }, '.') + lines.join('')
}

/** The result of an attempt that failed. What git got so far is kept, if git still lives. */
function giveUp(attempt: Attempt, error: unknown): Pick<Snapshot, 'id' | 'filesId'> & Partial<Snapshot> {
  const { target, git, sent } = attempt
  const nothing = { id: null, filesId: null }
  if (isSnapshotError(error)) {
    forget(target)
    return { ...nothing, reason: 'git', code: error.code, message: error.message }
  }
  if (git) target.goOn(keepSent(attempt, git))
  if (error instanceof GivenUp) {
    const { reason, message } = error
    const paths = [...target.memory.stored.keys(), ...sent.map(({ path }) => path)]
    const largest = largestOf(attempt.tree)
    return { ...nothing, reason, message, ...(git && { stored: new Set(paths).size }), largest }
  }
  if (codeOf(error) === undefined || error instanceof TypeError) throw error // a mistake in the call, or of ours
  return { ...nothing, reason: 'io', message: (error as Error).message }
}

/** The next attempt need not read again what git got for this one. */
async function keepSent({ target, sent }: Attempt, git: FastImport): Promise<void> {
  try {
    const blobs = await git.giveUp()
    sent.forEach(({ path, status }, index) => {
      const blob = blobs[index]
      if (blob) target.memory.stored.set(path, { status, blob })
    })
  } catch {
    forget(target) // git failed: nothing of this attempt was kept, and the next one starts from the beginning
  }
}

function forget({ memory, objects }: Target): void {
  Object.assign(memory, emptyMemory())
  removeLeftovers(objects)
}

/** Removes what a killed git left behind. Only the one writer of a store may do it. */
export function removeLeftovers({ directory }: Objects): void {
  if (wayOutOf(directory) !== undefined) return
  const pack = join(directory, 'pack')
  const unfinished = entriesIn(pack).filter(({ name }) => name.startsWith('tmp_'))
  for (const { name } of unfinished) rmSync(join(pack, name), { force: true })
}

function largestOf(tree: Tree): NonNullable<Snapshot['largest']> {
  const sizes = new Map<Bytes, number>()
  for (const [path, { entries }] of tree) {
    const [root, first] = path.split('/', 2)
    if (first === undefined) continue
    let size = sizes.get(`${root}/${first}`) ?? 0
    for (const status of entries.values()) size += status.size
    sizes.set(`${root}/${first}`, size)
  }
  const sorted = [...sizes].sort(([, one], [, other]) => other - one)
  return sorted.slice(0, 5).map(([path, bytes]) => ({ ...splitRoot(path), bytes }))
}

/** Thrown to give up, and told to the caller as a reason. */
class GivenUp extends Error {
  override readonly name = 'GivenUp'
  readonly reason: 'time' | 'budget'
  constructor(reason: 'time' | 'budget', message: string) {
    super(message)
    this.reason = reason
  }
}
