import { existsSync } from 'node:fs'
import { listRuns, runDirectory } from '@delta/journal'
import { commandAt, type Place } from '../place.js'
import { UsageError } from '../usage.js'

const MOST_NAMED = 8

/**
 * The id of the run that was typed, in full or as a unique prefix. If no id begins so, it is returned as typed: whoever then
 * looks for the run reports that there is none.
 *
 * @throws {UsageError} Several ids begin so; the message lists them.
 */
export async function resolveRunId(typed: string, place: Place): Promise<string> {
  const { workDirectory } = place
  if (typed === '' || existsSync(runDirectory(workDirectory, typed, place))) return typed
  const all = await listRuns(workDirectory, place)
  const ids = all.map(({ runId }) => runId).filter((id) => id.startsWith(typed))
  if (ids.length <= 1) return ids[0] ?? typed
  const newest = ids.reverse().slice(0, MOST_NAMED)
  const list = commandAt(place, 'list-runs')
  const rest = ids.length > newest.length ? `\nAll of them: ${list}` : ''
  throw new UsageError(
    `The ids of ${ids.length} runs begin with ${typed}. Type more of the one you mean:\n${newest.map((id) => `  ${id}`).join('\n')}${rest}`,
  )
}
