/**
 * Why a call failed:
 * - `ERR_SNAPSHOT_NO_GIT`: git is not installed, or older than 2.25.
 * - `ERR_SNAPSHOT_GIT`: git failed; the message holds its words.
 * - `ERR_SNAPSHOT_UNKNOWN`: the store has no snapshot with this id.
 * - `ERR_SNAPSHOT_DAMAGED`: the store holds something that `take` never writes. Nothing of it was restored.
 * - `ERR_SNAPSHOT_NOT_EMPTY`: the directory to restore into exists and is not empty.
 * - `ERR_SNAPSHOT_CLOSED`: the store was closed.
 */
export type SnapshotErrorCode =
  | 'ERR_SNAPSHOT_NO_GIT'
  | 'ERR_SNAPSHOT_GIT'
  | 'ERR_SNAPSHOT_UNKNOWN'
  | 'ERR_SNAPSHOT_DAMAGED'
  | 'ERR_SNAPSHOT_NOT_EMPTY'
  | 'ERR_SNAPSHOT_CLOSED'

/** Branch on `code`; show `message` to people. */
export class SnapshotError extends Error {
  override readonly name = 'SnapshotError'
  readonly code: SnapshotErrorCode

  constructor(code: SnapshotErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.code = code
  }
}

/** Whether an error is a `SnapshotError`, also one of another installed copy of this package. */
export function isSnapshotError(error: unknown): error is SnapshotError {
  return error instanceof Error && String((error as { code?: unknown }).code).startsWith('ERR_SNAPSHOT_')
}
