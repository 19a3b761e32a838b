import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readRequest } from '@delta/journal'
import type { ReplayRecord } from '@delta/model'

/**
 * The exchanges of a recorded run, oldest first, as `replayModel` takes them. Requests that got no response are left out.
 *
 * @param runDirectory - `.delta/<run_id>` of the run to be replayed.
 * @throws {JournalError} `ERR_REQUEST_CORRUPT`.
 */
export async function readRecordedRun(runDirectory: string): Promise<ReplayRecord[]> {
  const directory = join(runDirectory, 'io', 'invocations')
  const names = (await readdir(directory)).filter((name) => name.endsWith('.json')).sort()
  const answered = await Promise.all(names.map((name) => readInvocation(join(directory, name))))
  return Promise.all(
    answered
      .filter((invocation) => invocation.response !== undefined)
      .map(async ({ iteration, response }) => ({
        request: await readRequest(runDirectory, iteration),
        response,
      })),
  )
}

async function readInvocation(path: string): Promise<{ iteration: number; response?: unknown }> {
  return JSON.parse(await readFile(path, 'utf8'))
}
