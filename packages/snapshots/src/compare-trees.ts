import type { Bytes } from './bytes.js'
import type { Slices } from './slices.js'
import type { Directory, Status, Tree } from './walk.js'

/** A file or link whose contents may be new. */
export interface ToRead {
  path: Bytes
  name: Bytes
  status: Status
  directory: Directory
  /** It was there before. */
  isKnown: boolean
}

/** How a tree differs from the one before. */
export interface Changes {
  toRead: ToRead[]
  /** Files and links that are gone, or are directories by now. */
  gone: Bytes[]
  goneDirectories: Bytes[]
  /** Directories of which anything differs. */
  touched: Set<Bytes>
  /** Files and links that are new, changed or gone. */
  count: number
}

/** Finds out what must be read: everything whose status is not what it was. */
export async function compareTrees(before: Tree, now: Tree, slices: Slices): Promise<Changes> {
  const changes: Changes = { toRead: [], gone: [], goneDirectories: [], touched: new Set(), count: 0 }
  for (const [path, directory] of now) {
    await compareDirectory(path, before.get(path), directory, changes, slices)
  }
  changes.count = changes.toRead.length + changes.gone.length
  for (const [path, directory] of before) {
    if (now.has(path)) continue
    changes.goneDirectories.push(path)
    changes.count += directory.entries.size
  }
  return changes
}

async function compareDirectory(
  path: Bytes,
  before: Directory | undefined,
  directory: Directory,
  changes: Changes,
  slices: Slices,
): Promise<void> {
  const { toRead, gone, touched } = changes
  const count = toRead.length + gone.length
  for (const [name, status] of directory.entries) {
    const pause = slices.pause()
    if (pause) await pause
    const known = before?.entries.get(name)
    if (known && isSame(known, status)) continue
    toRead.push({ path: `${path}/${name}`, name, status, directory, isKnown: known !== undefined })
  }
  for (const name of before?.entries.keys() ?? []) {
    if (!directory.entries.has(name)) gone.push(`${path}/${name}`)
  }
  const isSameDirectory = before?.mode === directory.mode && before.mtimeNs === directory.mtimeNs
  if (!isSameDirectory || toRead.length + gone.length > count) touched.add(path)
}

/** Whether a file is the one that was read, and nothing was written to it since. */
export function isSame(read: Status, now: Status): boolean {
  return (
    !read.isFresh &&
    read.mtimeNs === now.mtimeNs &&
    read.ctimeNs === now.ctimeNs &&
    read.size === now.size &&
    read.inode === now.inode &&
    read.mode === now.mode &&
    read.kind === now.kind
  )
}
