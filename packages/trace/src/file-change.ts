import { join } from 'node:path'
import { type ChangedEntry, openStore, type SnapshotRef, type SnapshotStore } from '@delta/snapshots'

/** A file that differs between two snapshots. */
export interface FileChange {
  /** Relative to the workspace; what is not UTF-8 is shown as U+FFFD. */
  path: string
  /** `A`: only in the second. `D`: only in the first. `M`: other contents, or executable in one of them. `T`: a link in one of them. */
  kind: 'A' | 'D' | 'M' | 'T'
  /** As the first snapshot has it; null: it is not in it. */
  before: FileState | null
  /** As the second one has it; null: it is not in it. */
  after: FileState | null
}

/** A file or link of a snapshot. */
export interface FileState {
  type: 'file' | 'link'
  isExecutable: boolean
  /** Bytes; of a link, of its target. */
  size: number
  /**
   * The contents; of a link, its target. At most 100 MB.
   *
   * @throws {SnapshotError} `ERR_SNAPSHOT_NO_GIT`, `ERR_SNAPSHOT_GIT`, `ERR_SNAPSHOT_DAMAGED`.
   */
  read(): Promise<Buffer>
}

/** A snapshot, and the store that it is in. */
export type SnapshotIn = SnapshotRef & { store: string }

/** What differs from one snapshot to another, which may be in another store. @throws {SnapshotError} As `changedFiles`. */
export async function changesBetween(first: SnapshotIn, second: SnapshotIn): Promise<FileChange[]> {
  const [one, other] = [await openStore(first.store), await openStore(second.store)]
  const changes = await one.compare({ id: first.id }, second)
  return changes.map(({ path, kind, before, after }) => ({
    path: path.toString(),
    kind,
    before: before && stateOf(before, one),
    after: after && stateOf(after, other),
  }))
}

function stateOf(entry: ChangedEntry, store: SnapshotStore): FileState {
  const { type, isExecutable, size } = entry
  return { type, isExecutable, size, read: () => store.read(entry) }
}

/** Where a run has its snapshots; a fork those that it inherited, too. */
export function storeOf(runDirectory: string): string {
  return join(runDirectory, 'snapshots')
}
