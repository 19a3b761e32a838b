import { join } from 'node:path'
import { openStore } from '@delta/snapshots'
import type { Trace } from './trace.js'

/** A file that differs between the last snapshots of two runs. */
export interface FileChange {
  /** Relative to the workspace; what is not UTF-8 is shown as U+FFFD. */
  path: string
  /** `A`: only in the second. `D`: only in the first. `M`: other contents, or executable in one of them. `T`: a link in one of them. */
  kind: 'A' | 'D' | 'M' | 'T'
}

/**
 * Compares the files of two runs as their last snapshots have them, sorted by path.
 *
 * @returns Null if one of them has no snapshot.
 * @throws {SnapshotError} `ERR_SNAPSHOT_NO_GIT`, `ERR_SNAPSHOT_GIT`, `ERR_SNAPSHOT_UNKNOWN`, `ERR_SNAPSHOT_DAMAGED`.
 */
export async function changedFiles(a: Trace, b: Trace): Promise<FileChange[] | null> {
  const [left, right] = [await lastSnapshot(a), await lastSnapshot(b)]
  if (left === undefined || right === undefined) return null
  const [store, other] = [a, b].map(({ run }) => join(run.directory, 'snapshots'))
  const changes = await (await openStore(store as string)).compare({ id: left }, { id: right, store: other })
  return changes.map(({ path, kind }) => ({ path: path.toString(), kind }))
}

async function lastSnapshot(trace: Trace): Promise<string | undefined> {
  let last: string | undefined
  for await (const { snapshot } of trace.steps()) if (snapshot?.snapshot_id) last = snapshot.snapshot_id
  return last
}
