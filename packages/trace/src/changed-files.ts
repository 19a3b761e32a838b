import { changesBetween, type FileChange, type SnapshotIn, storeOf } from './file-change.js'
import type { Trace } from './trace.js'

/**
 * Compares the files of two runs as their last snapshots have them, sorted by path.
 *
 * @returns Null if one of them has no snapshot.
 * @throws {SnapshotError} `ERR_SNAPSHOT_NO_GIT`, `ERR_SNAPSHOT_GIT`, `ERR_SNAPSHOT_UNKNOWN`, `ERR_SNAPSHOT_DAMAGED`.
 */
export async function changedFiles(a: Trace, b: Trace): Promise<FileChange[] | null> {
  const [left, right] = [await lastSnapshot(a), await lastSnapshot(b)]
  return left === undefined || right === undefined ? null : changesBetween(left, right)
}

async function lastSnapshot({ run, steps }: Trace): Promise<SnapshotIn | undefined> {
  let last: string | undefined
  for await (const { snapshot } of steps()) if (snapshot?.snapshot_id) last = snapshot.snapshot_id
  return last === undefined ? undefined : { id: last, store: storeOf(run.directory) }
}
