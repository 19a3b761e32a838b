import type { Bytes } from './bytes.js'
import { SnapshotError } from './errors.js'
import { entriesIn, type Objects, startGit } from './git.js'
import { META_NAME, unescapePath } from './names.js'
import { readBlobs } from './read-blobs.js'

/** A directory, file or link of a snapshot. */
export interface Entry {
  /** Bytes, relative to the root; empty for the root itself. */
  path: Buffer
  type: 'directory' | 'file' | 'link'
  /** Permissions and the three special bits. */
  mode: number
  mtimeNs: bigint
  /** Bytes of contents; of a link, of its target. 0 for a directory. */
  size: number
  /** Id of the contents; the same contents have the same everywhere. Null for a directory. */
  blob: string | null
}

/** An entry whose path is `Bytes`. */
export interface Listed extends Omit<Entry, 'path'> {
  path: Bytes
}

/**
 * Reads what a snapshot holds, and checks all of it: a store may come from others.
 *
 * @param root - A root that the snapshot does not have is listed as nothing.
 * @returns A directory comes before what is in it.
 * @throws {SnapshotError} `ERR_SNAPSHOT_UNKNOWN`, `ERR_SNAPSHOT_DAMAGED`, or what `startGit` throws.
 */
export async function readListing(objects: Objects, id: string, root: string): Promise<Listed[]> {
  const { blobs, metas } = await readTree(objects, id, root)
  const listed = new Map<Bytes, Listed>()
  const attributes = new Map<Bytes, Attributes>()
  const paths = [...metas.keys()]
  const texts = await readWhole(objects, [...metas.values()])
  for (const [index, path] of paths.entries()) {
    for (const [name, each] of parseMeta(texts[index] ?? '')) {
      if (name === '.') listed.set(path, { path, type: 'directory', size: 0, blob: null, ...each })
      else attributes.set(join(path, name), each)
    }
  }
  for (const path of paths) {
    const isPlaced = path === '' || listed.get(parentOf(path))?.type === 'directory'
    if (!isPlaced || !listed.has(path)) throw damaged(`the directory ${JSON.stringify(path)} is incomplete`)
  }
  for (const [path, { type, size, blob }] of blobs) {
    const known = attributes.get(path)
    const isPlaced = listed.get(parentOf(path))?.type === 'directory' && !listed.has(path)
    if (!known || !isPlaced) throw damaged(`${JSON.stringify(path)} lacks its directory or attributes`)
    listed.set(path, { path, type, size, blob, ...known })
  }
  return [...listed.values()].sort((one, other) => (one.path < other.path ? -1 : 1))
}

interface Attributes {
  mode: number
  mtimeNs: bigint
}

/** The lines of a directory's blob: itself as `.`, and its files and links. */
function parseMeta(text: Bytes): Map<Bytes, Attributes> {
  const lines = text.split('\0')
  if (lines.pop() !== '') throw damaged('attributes are cut off')
  return new Map(
    lines.map((line) => {
      const [, mode, mtime, name] = /^([0-7]{1,4}) (-?\d{1,20}) ([^/]+)$/s.exec(line) ?? []
      if (!mode || !mtime || !name) throw damaged(`attributes read ${JSON.stringify(line)}`)
      return [name, { mode: Number.parseInt(mode, 8), mtimeNs: BigInt(mtime) }]
    }),
  )
}

async function readWhole(objects: Objects, ids: string[]): Promise<Bytes[]> {
  const texts = ids.map(() => '')
  await readBlobs(objects, ids, {
    onPiece: (index, piece) => {
      texts[index] += piece.toString('latin1')
    },
  })
  return texts
}

/** A file or link, as it stands in the tree. */
export interface Blob {
  /** As git has it: 100644, 100755 or 120000. */
  gitMode: string
  type: 'file' | 'link'
  size: number
  blob: string
}

/**
 * Reads the names in one root of a snapshot.
 *
 * @returns `blobs`: files and links by path. `metas`: the blob of attributes, by the directory's path.
 * @throws {SnapshotError} As `readListing`.
 */
export async function readTree(
  objects: Objects,
  id: string,
  root: string,
): Promise<{ blobs: Map<Bytes, Blob>; metas: Map<Bytes, string> }> {
  const tree = { blobs: new Map<Bytes, Blob>(), metas: new Map<Bytes, string>() }
  if (!/^[0-9a-f]{40}$/.test(id) || entriesIn(objects.directory).length === 0) throw unknown(objects, id)
  if (!/^[a-z]+$/.test(root) || root === 'meta') throw new TypeError(`No snapshot has a root "${root}".`)
  const argv = ['ls-tree', '-r', '-z', '-l', '--full-tree', id, root, `meta/${root}`]
  const { child, ended } = await startGit(objects, argv)
  child.stdin.end()
  let rest: Bytes = ''
  let failure: unknown
  child.stdout.setEncoding('latin1').on('data', (text: string) => {
    const lines = (rest + text).split('\0')
    rest = lines.pop() ?? ''
    try {
      for (const line of lines) addLine(line, root, tree)
    } catch (error) {
      failure ??= error
    }
  })
  await ended.catch((error: SnapshotError) => {
    throw /not a tree object|Not a valid object name/.test(error.message)
      ? unknown(objects, id, error)
      : error
  })
  if (failure !== undefined) throw failure
  return tree
}

function addLine(
  line: Bytes,
  root: string,
  { blobs, metas }: { blobs: Map<Bytes, Blob>; metas: Map<Bytes, string> },
): void {
  const [, gitMode = '', blob = '', size, path = ''] =
    /^(\d{6}) blob ([0-9a-f]{40}) +(\d+)\t(.*)$/s.exec(line) ?? []
  const isLink = gitMode === '120000'
  const isFile = gitMode === '100644' || gitMode === '100755'
  const [prefix, target, below] = path.startsWith('meta/')
    ? ([`meta/${root}`, metas, directoryOfMeta(path)] as const)
    : ([root, blobs, path] as const)
  if (!(isLink || isFile) || !below?.startsWith(prefix)) throw damaged(`its tree has ${JSON.stringify(line)}`)
  const inside = below === prefix ? '' : unescapePath(below.slice(prefix.length + 1))
  if (target.has(inside) || (inside === '' && target === blobs)) throw damaged(`its tree has ${path} twice`)
  if (target === metas) metas.set(inside, blob)
  else blobs.set(inside, { gitMode, type: isLink ? 'link' : 'file', size: Number(size), blob })
}

/** `meta/files/src` of `meta/files/src/,`. */
function directoryOfMeta(path: Bytes): Bytes | undefined {
  return path.endsWith(`/${META_NAME}`) ? path.slice(0, -META_NAME.length - 1) : undefined
}

function parentOf(path: Bytes): Bytes {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

/** A path below another, which is empty for the root. */
export function join(directory: Bytes, name: Bytes): Bytes {
  return directory === '' ? name : `${directory}/${name}`
}

function unknown(objects: Objects, id: string, cause?: unknown): SnapshotError {
  const message = `There is no snapshot ${id} in ${objects.directory}.`
  return new SnapshotError('ERR_SNAPSHOT_UNKNOWN', message, { cause })
}

/** What a store of ours never holds. */
export function damaged(what: string): SnapshotError {
  return new SnapshotError('ERR_SNAPSHOT_DAMAGED', `The snapshot is damaged: ${what}.`)
}
