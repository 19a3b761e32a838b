import type { Bytes } from './bytes.js'
import type { Objects } from './git.js'
import { type Blob, readTree } from './listing.js'
import { slices } from './slices.js'

/** How a path differs between two snapshots. */
export interface Change {
  /** Bytes, relative to the root. */
  path: Buffer
  /** `A`: only in the second. `D`: only in the first. `T`: a file here and a link there. `M`: other contents, or executable in one of them. */
  kind: 'A' | 'M' | 'D' | 'T'
  /** Null: it is not in the first. */
  before: ChangedEntry | null
  /** Null: it is not in the second. */
  after: ChangedEntry | null
}

/** A file or link on one side of a comparison. */
export interface ChangedEntry {
  type: 'file' | 'link'
  isExecutable: boolean
  /** Bytes of contents; of a link, of its target. */
  size: number
  /** Id of the contents, to be read from the store of this side. */
  blob: string
}

/**
 * Compares files and links: names, contents, executable or not. Directories, other permissions and times do not count, as they do
 * not for `filesId`.
 *
 * @returns Sorted by path.
 * @throws {SnapshotError} As `readTree`.
 */
export async function compareSnapshots(
  one: { objects: Objects; id: string; root: string },
  other: { objects: Objects; id: string; root: string },
): Promise<Change[]> {
  const { blobs: before } = await readTree(one.objects, one.id, one.root)
  const { blobs: after } = await readTree(other.objects, other.id, other.root)
  const kinds = new Map<Bytes, Change['kind']>()
  const { pause } = slices()
  for (const [path, now] of after) {
    const was = before.get(path)
    if (was === undefined) kinds.set(path, 'A')
    else if (was.type !== now.type) kinds.set(path, 'T')
    else if (was.blob !== now.blob || was.gitMode !== now.gitMode) kinds.set(path, 'M')
    await pause()
  }
  for (const path of before.keys()) if (!after.has(path)) kinds.set(path, 'D')
  const sorted = [...kinds].sort(([a], [b]) => (a < b ? -1 : 1))
  return sorted.map(([path, kind]) => ({
    path: Buffer.from(path, 'latin1'),
    kind,
    before: entryOf(before.get(path)),
    after: entryOf(after.get(path)),
  }))
}

function entryOf(blob: Blob | undefined): ChangedEntry | null {
  if (blob === undefined) return null
  const { type, gitMode, size, blob: id } = blob
  return { type, isExecutable: gitMode === '100755', size, blob: id }
}
