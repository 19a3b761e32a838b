import { openRecordedRequests } from '@delta/journal/runs'
import type { Recording } from '@delta/model'

/**
 * The exchanges of a recorded run, as `replayModel` takes them: oldest first, each read when its turn comes. Requests
 * that got no response are left out.
 *
 * @param runDirectory - The directory of the run to be replayed.
 * @throws {JournalError} `ERR_RUN_NOT_FOUND`, `ERR_REQUEST_CORRUPT`.
 */
export function readRecordedRun(runDirectory: string): Recording {
  return openRecordedRequests(runDirectory)
}
