import { type HumanInputRequest, latestRunId, listRuns, neverBegan, type RunSummary } from '@delta/journal'
import { describeError, reportFailure } from '../errors.js'
import { type Place, placeInWords } from '../place.js'
import { age } from '../present/age.js'
import { inColumns } from '../present/columns.js'
import { print, printJson, say, screenWidth } from '../present/print.js'
import { printableLine } from '../present/printable.js'
import { table } from '../present/table.js'
import { EXIT, type Terminal } from '../terminal/terminal.js'
import { placeToLook, type RunsFlags } from '../workspace/find-place.js'
import { type NamedWorkspace, workspacesNamed } from '../workspace/workspaces-named.js'

interface ListFlags extends RunsFlags {
  workDir: string[]
  status: string[]
  resumable?: boolean
  first?: boolean
  json?: boolean
}

/** A run, and the workspace that it lies in, as it was typed. */
interface Listed {
  run: RunSummary
  workspace: string
}

/**
 * `delta list-runs`: the runs of one or several workspaces, newest first; of one that cannot be continued, stderr says why.
 * With `--first` one id, the latest as `delta continue` understands it, or exit code 1 when there is none.
 */
export async function execute(
  flags: ListFlags,
  terminal: Terminal,
  further: readonly string[] = [],
): Promise<number> {
  const typed = [...flags.workDir, ...further]
  const named = (typed.length === 0 ? ['.'] : typed).flatMap((each) => workspacesNamed(each, terminal))
  const workspaces = flags.runsDir === undefined ? named : named.slice(0, 1) // it holds the runs of all of them
  const isSeveral = workspaces.length > 1
  const { all, places, failed } = await runsIn(workspaces, flags, terminal)
  const found = all.filter(({ run }) => isWanted(run, flags))
  if (flags.first) {
    const own = withoutSubAgents(found, all)
    const [place] = places
    const latest = place && !isSeveral ? await latestRunId(place.workDirectory, place) : undefined
    return printFirst(own.find(({ run }) => run.runId === latest) ?? own[0], flags, terminal)
  }

  const records = found.map(({ run }) => recordOf(run, terminal))
  const rows = found.map((listed) => row(listed, isSeveral))
  if (flags.json) printJson(terminal, records)
  else if (found.length > 0) print(terminal, table([header(isSeveral), ...rows], screenWidth(terminal)))
  else if (!failed) say(terminal, nothingFound(all, workspaces, places))
  for (const { run } of found) explain(run, terminal)
  return failed ? EXIT.usage : EXIT.completed
}

function placeOf({ shown, open }: NamedWorkspace, { runsDir }: ListFlags, terminal: Terminal): Place {
  if (runsDir === undefined) open()
  return placeToLook({ workDir: shown, ...(runsDir === undefined ? {} : { runsDir }) }, terminal)
}

/** Newest first. Of several workspaces, one that cannot be read is reported, and the others are listed. */
async function runsIn(
  workspaces: readonly NamedWorkspace[],
  flags: ListFlags,
  terminal: Terminal,
): Promise<{ all: Listed[]; places: Place[]; failed: boolean }> {
  const all: Listed[] = []
  const places: Place[] = []
  let failed = false
  for (const workspace of workspaces) {
    try {
      const place = placeOf(workspace, flags, terminal)
      places.push(place)
      for (const run of await listRuns(place.workDirectory, place))
        all.push({ run, workspace: workspace.shown })
    } catch (error) {
      if (workspaces.length === 1) throw error
      await reportFailure(terminal, error)
      failed = true
    }
  }
  return { all: workspaces.length === 1 ? all.reverse() : all.sort(byBeginning), places, failed }
}

function byBeginning(one: Listed, other: Listed): number {
  const [first, second] = [one, other].map(({ run }) => `${run.metadata.created_at ?? ''} ${run.runId}`)
  return (first ?? '') < (second ?? '') ? 1 : -1
}

function nothingFound(
  all: readonly Listed[],
  [only, ...others]: readonly NamedWorkspace[],
  [place]: readonly Place[],
): string {
  const what = all.length > 0 ? 'No such runs' : 'No runs'
  if (only === undefined || place === undefined || others.length > 0) return what
  const where = `${what} in ${placeInWords(place)}`
  return all.length > 0 ? where : `${where}. Choose another workspace with -w.`
}

/** A sub-agent's run is resumed by its caller, and a damaged run cannot be resumed. */
function isWanted(run: RunSummary, { status: statuses, resumable }: ListFlags): boolean {
  const status = statusOf(run)
  const canGoOn = status === 'INTERRUPTED' || status === 'WAITING_FOR_INPUT'
  if (resumable && (!canGoOn || run.metadata.parent_run !== null)) return false
  return statuses.length === 0 || statuses.includes(status)
}

/** The runs that people started here: an id that is passed on to `delta continue` should not be a sub-agent's. */
function withoutSubAgents(found: readonly Listed[], all: readonly Listed[]): Listed[] {
  const ids = new Set<string | null>(all.map(({ run }) => run.runId))
  return found.filter(({ run }) => !ids.has(run.metadata.parent_run))
}

function printFirst(listed: Listed | undefined, { json }: ListFlags, terminal: Terminal): number {
  if (!listed) return EXIT.failed
  const { run } = listed
  if (json) printJson(terminal, recordOf(run, terminal))
  else print(terminal, `${run.runId}\n`)
  return EXIT.completed
}

/** The status in the journal counts only if all of it could be read. */
function statusOf({ status, problem }: RunSummary): string {
  return problem === undefined ? status : 'DAMAGED'
}

function explain(run: RunSummary, terminal: Terminal): void {
  const { runId, status, owner } = run
  const problem = problemOf(run)
  if (problem !== undefined) say(terminal, `Run ${runId} is damaged: ${problem}`)
  else if (status === 'EMPTY' && !owner?.alive) say(terminal, whyEmpty(run))
}

/** The run may have begun, and its journal be gone. */
function whyEmpty({ runId, directory }: RunSummary): string {
  const why = neverBegan(directory).message.slice(`${directory}: `.length)
  return why.replace(/^This run/, `Run ${runId}`).replace(' this run ', ` run ${runId} `)
}

function problemOf({ problem }: RunSummary): string | undefined {
  return problem && describeError(problem)
}

/** Every field of `metadata.json`, the model, where the run lies, and what it asks. */
function recordOf(run: RunSummary, _terminal: Terminal): object {
  const problem = problemOf(run)
  return {
    ...run.metadata,
    status: statusOf(run),
    model: run.model,
    run_directory: run.directory,
    question: run.humanRequest === undefined ? null : questionIn(run.humanRequest),
    ...(problem === undefined ? {} : { problem }),
  }
}

/** What a person is asked, without its place in the journal. */
function questionIn({
  request_id,
  prompt,
  input_type,
  sensitive,
  argv,
  reasons,
  effects,
}: HumanInputRequest): object {
  return { request_id, prompt, input_type, sensitive, argv, reasons, effects }
}

const TASK_COLUMNS = 60
const NAME_COLUMNS = 24

function header(isSeveral: boolean): string[] {
  const workspace = isSeveral ? ['WORKSPACE'] : []
  return ['RUN', ...workspace, 'STATUS', 'AGE', 'ITERATIONS', 'AGENT', 'MODEL', 'TOKENS', 'TASK']
}

function row({ run, workspace }: Listed, isSeveral: boolean): string[] {
  const { runId, lastIteration, metadata, model, usage } = run
  const owner = metadata.parent_run === null ? '' : `[of ${metadata.parent_run}] `
  const task = printableLine(owner + ((metadata.initial_message ?? '').split('\n')[0] ?? ''))
  return [
    runId,
    ...(isSeveral ? [printableLine(workspace)] : []),
    statusOf(run),
    metadata.updated_at === null ? '' : age(Date.parse(metadata.updated_at), Date.now()),
    String(lastIteration),
    inColumns(printableLine(metadata.agent_name ?? ''), NAME_COLUMNS),
    inColumns(printableLine(model ?? ''), NAME_COLUMNS),
    String(usage.total_tokens),
    inColumns(task, TASK_COLUMNS),
  ]
}
