import { type HumanInputRequest, latestRunId, listRuns, neverBegan, type RunSummary } from '@delta/journal'
import { age } from '../present/age.js'
import { inColumns } from '../present/columns.js'
import { print, printJson, say, screenWidth } from '../present/print.js'
import { printableLine } from '../present/printable.js'
import { table } from '../present/table.js'
import { EXIT, type Terminal } from '../terminal/terminal.js'
import { withExactCommands } from '../usage/exact-commands.js'
import { type Place, placeInWords } from '../usage/place.js'
import { placeToLook, type RunsFlags } from '../workspace/find-place.js'
import { otherWorkspace } from '../workspace/workspace-near.js'

interface ListFlags extends RunsFlags {
  workDir: string
  status: string[]
  resumable?: boolean
  first?: boolean
  json?: boolean
}

/**
 * `delta list-runs`: the runs of a workspace, newest first; of one that cannot be continued, stderr says why. With
 * `--first` one id, the latest as `delta continue` understands it, or exit code 1 when there is none.
 */
export async function execute(flags: ListFlags, terminal: Terminal): Promise<number> {
  const place = placeToLook(flags, terminal)
  const all = (await listRuns(place.workDirectory, place)).reverse()
  const found = all.filter((run) => isWanted(run, flags))
  if (flags.first) {
    const own = withoutSubAgents(found, all)
    const latest = await latestRunId(place.workDirectory, place)
    return printFirst(own.find(({ runId }) => runId === latest) ?? own[0], flags, terminal)
  }

  const records = found.map((run) => recordOf(run, terminal))
  if (flags.json) printJson(terminal, records)
  else if (found.length > 0) print(terminal, table([HEADER, ...found.map(row)], screenWidth(terminal)))
  else say(terminal, nothingFound(all, place, flags, terminal))
  for (const run of found) explain(run, terminal)
  return EXIT.completed
}

function nothingFound(
  all: readonly RunSummary[],
  place: Place,
  flags: ListFlags,
  terminal: Terminal,
): string {
  return all.length > 0
    ? `No such runs in ${placeInWords(place)}`
    : `No runs in ${placeInWords(place)}. ${otherWorkspace(['list-runs'], flags, terminal)}`
}

/** A sub-agent's run is resumed by its caller, and a damaged run cannot be resumed. */
function isWanted(run: RunSummary, { status: statuses, resumable }: ListFlags): boolean {
  const status = statusOf(run)
  const canGoOn = status === 'INTERRUPTED' || status === 'WAITING_FOR_INPUT'
  if (resumable && (!canGoOn || run.metadata.parent_run !== null)) return false
  return statuses.length === 0 || statuses.includes(status)
}

/** The runs that people started here: an id that is passed on to `delta continue` should not be a sub-agent's. */
function withoutSubAgents(found: readonly RunSummary[], all: readonly RunSummary[]): RunSummary[] {
  const ids = new Set<string | null>(all.map(({ runId }) => runId))
  return found.filter(({ metadata }) => !ids.has(metadata.parent_run))
}

function printFirst(run: RunSummary | undefined, { json }: ListFlags, terminal: Terminal): number {
  if (!run) return EXIT.failed
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
  const problem = problemOf(run, terminal.env)
  if (problem !== undefined) say(terminal, `Run ${runId} is damaged: ${problem}`)
  else if (status === 'EMPTY' && !owner?.alive) say(terminal, whyEmpty(run))
}

/** The run may have begun, and its journal be gone. */
function whyEmpty({ runId, directory }: RunSummary): string {
  const why = neverBegan(directory).message.slice(`${directory}: `.length)
  return why.replace(/^This run/, `Run ${runId}`).replace(' this run ', ` run ${runId} `)
}

function problemOf({ problem, directory }: RunSummary, env: NodeJS.ProcessEnv): string | undefined {
  return problem === undefined ? undefined : withExactCommands(problem, directory, env)
}

/** Every field of `metadata.json`, where the run lies, and what it asks. */
function recordOf(run: RunSummary, terminal: Terminal): object {
  const problem = problemOf(run, terminal.env)
  return {
    ...run.metadata,
    status: statusOf(run),
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
const HEADER = ['RUN', 'STATUS', 'AGE', 'ITERATIONS', 'TASK']

function row(run: RunSummary): string[] {
  const { runId, lastIteration, metadata } = run
  const owner = metadata.parent_run === null ? '' : `[of ${metadata.parent_run}] `
  const task = printableLine(owner + ((metadata.initial_message ?? '').split('\n')[0] ?? ''))
  return [
    runId,
    statusOf(run),
    metadata.updated_at === null ? '' : age(Date.parse(metadata.updated_at), Date.now()),
    String(lastIteration),
    inColumns(task, TASK_COLUMNS),
  ]
}
