import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  type ActionRequest,
  isKnownEvent,
  listRuns,
  type RunSummary,
  type RunsPlace,
  type StoredEvent,
} from '@delta/journal/runs'

/** A workspace, and where its runs are kept. */
type Place = RunsPlace & { workDirectory: string }

/**
 * Adds the runs that a call started to its result, where the journal does not name them: of the runs beside this one, and of those
 * in the workspace that the call names with `-w`, the ones that have this run as their caller and began during the call. A call
 * beside which others ran gets none, since they may be another's.
 *
 * @param place - The run's workspace, and where its runs are kept.
 */
export function childFinder(
  { runId }: Pick<RunSummary, 'runId'>,
  place: Place,
): (event: StoredEvent) => Promise<StoredEvent> {
  const calledIn = listerOfCalled(runId, place)
  const open = new Map<string, ActionRequest>()
  let aloneSince: string | undefined

  return async (event) => {
    if (!isKnownEvent(event)) return event
    if (event.type === 'ACTION_REQUEST' && !open.has(event.action_id)) {
      open.set(event.action_id, event)
      aloneSince = open.size === 1 ? event.timestamp : undefined
    }
    if (event.type !== 'ACTION_RESULT') return event
    const from = aloneSince
    const request = open.get(event.action_id)
    open.delete(event.action_id)
    if (open.size === 0) aloneSince = undefined
    if (!request?.argv || event.child_runs !== undefined || from === undefined) return event
    const found = new Map<string, { run_id: string; directory: string }>()
    for (const workDirectory of new Set([place.workDirectory, ...workspacesIn(request.argv, place)]))
      for (const { metadata, runId: run_id, directory } of await calledIn(workDirectory, event.timestamp)) {
        const { created_at: began } = metadata
        if (began !== null && from <= began && began <= event.timestamp)
          found.set(directory, { run_id, directory })
      }
    return found.size === 0 ? event : { ...event, child_runs: [...found.values()] }
  }
}

/** Lists the runs in a workspace that have this one as their caller. A list is made anew only for what came after it. */
function listerOfCalled(runId: string, place: Place) {
  const listed = new Map<string, { at: number; runs: RunSummary[] }>()
  return async (workDirectory: string, until: string): Promise<RunSummary[]> => {
    const known = listed.get(workDirectory)
    if (known !== undefined && Date.parse(until) <= known.at) return known.runs
    const at = Date.now()
    const runs = existsSync(`${workDirectory}/.`) // a directory: -w of another program is anything
      ? await listRuns(workDirectory, { ...place, ofAnyWorkspace: true, calledBy: runId })
      : []
    listed.set(workDirectory, { at, runs })
    return runs
  }
}

/** What a command line of delta names with `-w`. */
function workspacesIn(argv: readonly string[], { workDirectory }: Place): string[] {
  const named = argv[argv.findIndex((word) => word === '-w' || word === '--work-dir') + 1]
  return named === undefined || named === argv[0] ? [] : [resolve(workDirectory, named)]
}
