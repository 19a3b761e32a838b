import { constants, mkdirSync, statSync } from 'node:fs'
import { copyFile, mkdir, open, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Change, compareSnapshots } from './compare.js'
import { SnapshotError } from './errors.js'
import { checkObjects, entriesIn, type Objects } from './git.js'
import { type Entry, readListing } from './listing.js'
import { readBlobs } from './read-blobs.js'
import { type Restored, restoreSnapshot } from './restore.js'
import { inTurn, untilAborted } from './slices.js'
import { emptyMemory, removeLeftovers, type Snapshot, type TakeOptions, takeSnapshot } from './take.js'
import type { Root } from './walk.js'

/** A snapshot, to be compared. */
export interface SnapshotRef {
  id: string
  /** Default: `files`. */
  root?: string | undefined
  /** Directory of the store it is in. Default: this one. */
  store?: string | undefined
}

/** A directory of snapshots. Whoever takes snapshots must be the only one who does; anybody may read meanwhile. */
export interface SnapshotStore {
  /**
   * Takes a snapshot of one or more directories. Calls wait for each other. Only what changed since this store's last `take` is read.
   *
   * @param roots - By name: lower-case letters, not `meta`.
   * @throws {TypeError} A name or a pattern is wrong. @throws {SnapshotError} `ERR_SNAPSHOT_CLOSED`. Everything else is a `reason`.
   */
  take(roots: Record<string, Root>, options?: TakeOptions): Promise<Snapshot>
  /**
   * Writes a root of a snapshot into a directory that does not exist or is empty. For a root that the snapshot does not have,
   * nothing is written, and no directory made.
   *
   * @throws {SnapshotError} `ERR_SNAPSHOT_NOT_EMPTY`, `_UNKNOWN`, `_DAMAGED`, `_NO_GIT`, `_GIT`. The system's error, such as
   *   `ENOSPC`: then what was written so far is there.
   */
  restore(id: string, root: string, into: string): Promise<Restored>
  /**
   * Lists a root, default `files`; a directory comes before what is in it.
   *
   * @throws {SnapshotError} As `restore`.
   */
  list(id: string, root?: string): AsyncGenerator<Entry>
  /**
   * Reads a file's contents, or a link's target; nothing for a directory.
   *
   * @throws {SnapshotError} As `restore`.
   */
  read(entry: Pick<Entry, 'blob'>): Promise<Buffer>
  /**
   * What differs from `a` to `b` in names, contents and executable bits; sorted by path. Empty exactly when their `filesId` are equal.
   *
   * @throws {SnapshotError} As `restore`.
   */
  compare(a: SnapshotRef, b: SnapshotRef): Promise<Change[]>
  /**
   * Copies all snapshots into another store, which is created; without taking space where the file system can share blocks. Synced.
   *
   * @throws {SnapshotError} `ERR_SNAPSHOT_DAMAGED`: a link leads out of this store. Then nothing is copied.
   */
  copyTo(directory: string): Promise<void>
  /** What the store takes of the disk, in bytes. */
  bytes(): number
  /** Gives up a snapshot under way. Nothing can be taken any more; reading still works. */
  close(): void
}

/** How a store is opened. */
export interface StoreOptions {
  /** False: a power cut may lose the last snapshots and what was copied; a kill may not. Default true. */
  sync?: boolean | undefined
}

/**
 * Opens a store. Its directory is created by the first `take`; opening and reading write nothing.
 *
 * @example
 * const store = await openStore('.snapshots')
 * const { id } = await store.take({ files: { directory: 'project' } })
 */
export async function openStore(directory: string, options: StoreOptions = {}): Promise<SnapshotStore> {
  const path = resolve(directory)
  const objects = objectsOf(path, options.sync)
  const memory = emptyMemory()
  const underWay = new Set<AbortController>()
  const sizes = new Map<string, number>()
  /** Resolves when the takes before, and what they left to be done, are over. */
  let before: Promise<void> = Promise.resolve()
  let isFirst = true
  let isClosed = false

  /** A pack never changes, so each is asked for its size once. */
  function bytes(): number {
    const pack = join(objects.directory, 'pack')
    let sum = 0
    for (const { name } of entriesIn(pack)) {
      const size = sizes.get(name) ?? statSync(join(pack, name), { throwIfNoEntry: false })?.size ?? 0
      if (/^pack-/.test(name)) sizes.set(name, size)
      sum += size
    }
    return sum
  }

  function prepare(): void {
    checkObjects(objects.directory) // nothing is made or removed through a link
    mkdirSync(join(objects.directory, 'pack'), { recursive: true, mode: 0o700 })
    if (isFirst) removeLeftovers(objects)
    isFirst = false
  }

  function inOrder(
    roots: Record<string, Root>,
    takeOptions: TakeOptions & { signal: AbortSignal },
  ): Promise<Snapshot> {
    const target = { objects, directory: path, memory, bytes, prepare, goOn: follow }
    const turn = untilAborted(takeOptions.signal, before).then(() =>
      inTurn(takeOptions.signal, () => takeSnapshot(target, roots, takeOptions)),
    )
    follow(turn)
    return turn
  }

  /** Makes the next take wait for this, too. Whether it fails is not the next one's matter. */
  function follow(work: Promise<unknown>): void {
    before = Promise.allSettled([before, work]).then(() => {})
  }

  return {
    async take(roots, { signal, ...takeOptions } = {}) {
      if (isClosed) throw new SnapshotError('ERR_SNAPSHOT_CLOSED', `${path} was closed.`)
      const ownSignal = new AbortController()
      const giveUp = () => ownSignal.abort()
      if (signal?.aborted) giveUp()
      signal?.addEventListener('abort', giveUp)
      underWay.add(ownSignal)
      const turn = inOrder(roots, { ...takeOptions, signal: ownSignal.signal })
      return turn.finally(() => {
        underWay.delete(ownSignal)
        signal?.removeEventListener('abort', giveUp)
      })
    },
    restore: (id, root, into) => restoreSnapshot(objects, id, root, into),
    async *list(id, root = 'files') {
      for (const { path: bytesOfPath, ...entry } of await readListing(objects, id, root)) {
        yield { path: Buffer.from(bytesOfPath, 'latin1'), ...entry }
      }
    },
    async read({ blob }) {
      const pieces: Buffer[] = []
      await readBlobs(objects, blob === null ? [] : [blob], { onPiece: (_, piece) => pieces.push(piece) })
      return Buffer.concat(pieces)
    },
    compare(a, b) {
      const place = ({ id, root = 'files', store }: SnapshotRef) => {
        return { id, root, objects: store === undefined ? objects : objectsOf(resolve(store)) }
      }
      return compareSnapshots(place(a), place(b))
    },
    copyTo: (target) => copyPacks(objects, objectsOf(resolve(target), options.sync)),
    bytes,
    close() {
      isClosed = true
      for (const each of underWay) each.abort()
    },
  }
}

function objectsOf(store: string, sync = true): Objects {
  return { directory: join(store, 'objects'), sync }
}

/** A pack exists once its index does; what is unfinished is not copied. */
async function copyPacks(from: Objects, to: Objects): Promise<void> {
  checkObjects(from.directory)
  const pack = join(from.directory, 'pack')
  const names = entriesIn(pack).filter(
    (entry) => entry.isFile() && /^pack-[0-9a-f]{40}\.idx$/.test(entry.name),
  )
  const pair = (index: string) => [index.replace('.idx', '.pack'), index]
  const copies = names.flatMap(({ name }) => pair(name))
  await mkdir(join(to.directory, 'pack'), { recursive: true, mode: 0o700 })
  for (const name of copies) {
    const copy = join(to.directory, 'pack', name)
    await rm(copy, { force: true }) // git makes them read-only, and an earlier copy may have been interrupted
    await copyFile(join(pack, name), copy, constants.COPYFILE_FICLONE)
  }
  if (!to.sync) return
  const inPack = copies.map((name) => join('pack', name))
  for (const path of [...inPack, 'pack', '.', '..']) await syncFile(join(to.directory, path)) // all at the end: a third of the time
}

/** For a directory, the names in it are synced. */
async function syncFile(path: string): Promise<void> {
  const file = await open(path)
  await file.sync().finally(() => file.close())
}
