import { shortName } from '@delta/engine/internal'
import { emptyRunError, latestRunId } from '@delta/journal/internal'
import type { RunSummary } from '@delta/journal/runs'
import { findRuns, type TracedRun } from '@delta/trace'
import { isOwnRun, type Place, placeToLook, type RunsFlags } from '@delta/workspace'
import { placeInWords } from '@delta/workspace/internal'
import { describeError, reportFailure } from '../errors.js'
import { tokensIn } from '../render.js'
import { EXIT, type Terminal } from '../terminal.js'
import { age, inColumns, money, print, printableLine, printJson, say, table } from '../text.js'

interface ListFlags extends RunsFlags {
  workDir: string[]
  status: string[]
  runId?: string
  resumable?: boolean
  first?: boolean
  json?: boolean
}

/** A run, and the workspace that it lies in, as it was typed. */
interface Listed {
  run: TracedRun
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
  const workspaces = typed.length > 0 ? typed : [undefined]
  const { all, places, failed } = await runsIn(workspaces, flags, terminal)
  const found = all.filter(({ run }) => isWanted(run, flags, terminal))
  if (flags.first) return printFirst(withoutSubAgents(found, all), places, flags, terminal)

  const records = found.map(({ run }) => recordOf(run))
  if (flags.json) printJson(terminal, records)
  else if (found.length > 0)
    print(terminal, table(rowsOf(found, workspaces.length > 1, terminal), terminal.stdout.columns))
  else if (!failed) say(terminal, nothingFound(all, places))
  for (const { run } of found) sayWhyItCannotContinue(run, terminal)
  return failed ? EXIT.usage : EXIT.completed
}

function sayWhyItCannotContinue(run: RunSummary, terminal: Terminal): void {
  const problem = problemOf(run)
  if (problem !== undefined) say(terminal, `Run ${run.runId} is damaged: ${problem}`)
  else if (run.status === 'EMPTY' && !run.owner?.alive)
    say(terminal, describeError(emptyRunError(run.directory)))
}

/** Newest first. A workspace that cannot be read is reported, and the others are listed. */
async function runsIn(
  workspaces: readonly (string | undefined)[],
  { runsDir }: ListFlags,
  terminal: Terminal,
): Promise<{ all: Listed[]; places: Place[]; failed: boolean }> {
  const all: Listed[] = []
  const places: Place[] = []
  let failed = false
  for (const workDir of workspaces) {
    try {
      const place = placeToLook(
        { ...(workDir !== undefined && { workDir }), ...(runsDir !== undefined && { runsDir }) },
        terminal,
      )
      places.push(place)
      for await (const run of findRuns([place])) all.push({ run, workspace: workDir ?? '.' })
    } catch (error) {
      if (workspaces.length === 1) throw error
      await reportFailure(terminal, error)
      failed = true
    }
  }
  const beginning = ({ run }: Listed) => `${run.metadata.created_at ?? ''} ${run.runId}`
  return { all: all.sort((one, other) => (beginning(one) < beginning(other) ? 1 : -1)), places, failed }
}

function isWanted(
  run: RunSummary,
  { status: statuses, runId = '', resumable }: ListFlags,
  terminal: Terminal,
): boolean {
  if (!run.runId.startsWith(runId) || (resumable && !isResumable(run, terminal))) return false
  return statuses.length === 0 || statuses.includes(statusOf(run))
}

/** A sub-agent's run is resumed by its caller; a damaged run cannot be resumed, and one of somebody else is refused. */
function isResumable(run: RunSummary, { env }: Terminal): boolean {
  const canGoOn = ['INTERRUPTED', 'WAITING_FOR_INPUT'].includes(statusOf(run))
  return canGoOn && run.metadata.parent_run === null && isOwnRun(run.directory, env)
}

/** The runs that people started here: an id that is passed on to `delta continue` should not be a sub-agent's. */
function withoutSubAgents(found: readonly Listed[], all: readonly Listed[]): Listed[] {
  const ids = new Set<string | null>(all.map(({ run }) => run.runId))
  return found.filter(({ run }) => !ids.has(run.metadata.parent_run))
}

async function printFirst(
  found: readonly Listed[],
  [place, ...others]: readonly Place[],
  { json }: ListFlags,
  terminal: Terminal,
): Promise<number> {
  const latest = place && others.length === 0 ? await latestRunId(place.workDirectory, place) : undefined
  const listed = found.find(({ run }) => run.runId === latest) ?? found[0]
  if (!listed) return EXIT.failed
  if (json) printJson(terminal, recordOf(listed.run))
  else print(terminal, `${listed.run.runId}\n`)
  return EXIT.completed
}

function nothingFound(all: readonly Listed[], places: readonly Place[]): string {
  const where = places.map(placeInWords).join(', ')
  return all.length > 0
    ? `No such runs in ${where}`
    : `No runs in ${where}. Choose another workspace with -w.`
}

/** The status in the journal counts only if all of it could be read. */
function statusOf({ status, problem }: RunSummary): string {
  return problem === undefined ? status : 'DAMAGED'
}

function problemOf({ problem }: RunSummary): string | undefined {
  return problem && describeError(problem)
}

/** Every field of `metadata.json`, the model, where the run lies, what it is a fork or a replay of, and what it asks. */
function recordOf(run: RunSummary): object {
  const problem = problemOf(run)
  const { request_id, prompt, input_type, sensitive, argv, reasons, effects } = run.humanRequest ?? {}
  return {
    ...run.metadata,
    status: statusOf(run),
    model: run.model,
    run_directory: run.directory,
    forked_from: run.parent ? { run_id: run.parent.run_id, iteration: run.parent.iteration } : null,
    question: run.humanRequest ? { request_id, prompt, input_type, sensitive, argv, reasons, effects } : null,
    ...(problem === undefined ? {} : { problem }),
  }
}

const HEADER = ['STATUS', 'AGE', 'ITERATIONS', 'AGENT', 'MODEL', 'TOKENS', 'COST', 'TASK']
const TASK_COLUMNS = 60
const NAME_COLUMNS = 24

function rowsOf(
  found: readonly Listed[],
  isSeveral: boolean,
  { stdout }: Terminal,
): [string[], ...string[][]] {
  const taskColumns = stdout.columns ? Math.min(TASK_COLUMNS, stdout.columns - 2) : TASK_COLUMNS // it may get a line of its own
  const rows = found.map(({ run, workspace }) => {
    const { runId, lastIteration, metadata, totals } = run
    const { cost } = totals.all
    const task = originOf(run) + ((metadata.initial_message ?? '').split('\n')[0] ?? '')
    return [
      runId,
      ...(isSeveral ? [printableLine(workspace)] : []),
      statusOf(run),
      metadata.updated_at === null ? '' : age(Date.parse(metadata.updated_at), Date.now()),
      String(lastIteration),
      inColumns(printableLine(metadata.agent_name ?? ''), NAME_COLUMNS),
      inColumns(printableLine(modelsOf(run)), NAME_COLUMNS),
      tokensIn(totals),
      cost ? money(cost) : '',
      inColumns(printableLine(task), taskColumns),
    ]
  })
  return [['RUN', ...(isSeveral ? ['WORKSPACE'] : []), ...HEADER], ...rows]
}

/** Before its task: which run called a sub-agent, and what a fork or a replay is of. */
function originOf({ metadata, parent, replay }: RunSummary): string {
  if (metadata.parent_run !== null) return `[of ${metadata.parent_run}] `
  if (parent === undefined) return ''
  return `[${replay ? 'replay' : 'fork'} of ${shortName(parent.run_id)} at ${parent.iteration}] `
}

/** `gpt-5.6-luna +2` where two others answered, too, of the run or its sub-agents. An answer may name a version of the model. */
function modelsOf({ model, totals }: RunSummary): string {
  const answered = Object.keys(totals.by_model)
  const others = answered.filter((name) => model === null || !name.startsWith(model))
  const [first = model ?? '', ...more] = others.length < answered.length ? [model ?? '', ...others] : others
  return more.length > 0 ? `${first} +${more.length}` : first
}
