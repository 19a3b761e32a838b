import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { formatProblem } from '@delta/config-loader/internal'
import {
  type Cell,
  cellFilter,
  type Evaluation,
  evalCommands,
  evalStatus,
  type ForkedRun,
  hasSourceChanged,
  isEvaluationError,
  nameOfCell,
  type Planned,
  planEval,
  planOf,
  readEval,
  readPlan,
  reportCsv,
  reportHtml,
  report as reportOf,
  reportOfScores,
  reportText,
  results,
  retryCells,
  scoresInCsv,
  type WorkOptions,
  work as workOn,
} from '@delta/evals'
import { isOfRun, runDirectoriesOf } from '@delta/journal/internal'
import { agentHomeOf, isOwnEvaluation, isOwnPlan, listEvaluation, listPlan, ownRun } from '@delta/workspace'
import { evalProgress, statusInWords } from '../eval-progress.js'
import { directoryAt, shownRun } from '../find-shown-run.js'
import { withOwnCommands } from '../own-commands.js'
import { pricesIn } from '../prices.js'
import { EXIT, SIGNAL_EXIT, stopSignal, type Terminal } from '../terminal.js'
import { counted, print, printable, printJson, say } from '../text.js'
import { UsageError, wholeNumber } from '../usage.js'

/** `work` was stopped, and cells are left: Slurm and its like requeue it. */
const STOPPED = 75

interface WorkFlags {
  concurrency?: string
  prices?: string
  shard?: string
  only?: string
  quiet?: boolean
  json?: boolean
  trustRun?: boolean
}

interface RunFlags extends WorkFlags {
  into?: string
  dryRun?: boolean
}

/** `delta eval run`: plans an evaluation, and works until each cell has its result. */
export async function run(flags: RunFlags, terminal: Terminal, file: string | undefined): Promise<number> {
  const { evaluation, directory } = await evaluationIn(file, flags, terminal)
  if (!isOwnEvaluation(directory, terminal.env)) refuseForeign(directory, flags, terminal)
  const planned = await planEval(evaluation, directory, {
    env: terminal.env,
    prices: pricesIn(flags, terminal),
    dryRun: flags.dryRun,
    onPlan: (text) => own(directory, text, terminal),
  })
  for (const warning of planned.warnings) say(terminal, formatProblem(warning))
  if (!flags.quiet) say(terminal, headLine(planned, flags))
  refuseUnmatched(planned.cells, flags)
  if (flags.dryRun) {
    if (!flags.quiet) say(terminal, `Would work on ${counted(chosen(planned.open, flags).length, 'cell')}.`)
    if (flags.json) printJson(terminal, countsOf(planned))
    return EXIT.completed
  }
  return workHere(directory, flags, terminal)
}

/** `delta eval work`: one more worker of an evaluation that is planned. */
export async function work(flags: WorkFlags, terminal: Terminal, named: string): Promise<number> {
  const directory = directoryNamed(named, terminal)
  refuseForeign(directory, flags, terminal)
  refuseUnmatched(cellsOf(directory), flags)
  return workHere(directory, flags, terminal, { whenStopped: STOPPED })
}

function chosen(cells: readonly Cell[], { only }: WorkFlags): readonly Cell[] {
  return only === undefined ? cells : cells.filter(cellFilter(only))
}

function refuseUnmatched(cells: readonly Cell[], flags: WorkFlags): void {
  if (chosen(cells, flags).length === 0 && cells.length > 0)
    throw new UsageError(`no cell matches ${flags.only}. A cell is named variant/task/repeat.`)
}

function cellsOf(directory: string): Cell[] {
  return results(directory).map(({ cell }) => cell)
}

interface RetryFlags extends WorkFlags {
  fresh?: boolean
}

/** `delta eval retry`: only cells that have no score by no fault of the agent. */
export async function retry(
  flags: RetryFlags,
  terminal: Terminal,
  named: readonly string[] = [],
): Promise<number> {
  const [first] = named
  const isDirectory = first !== undefined && planOf(resolve(terminal.cwd, first)) !== undefined
  const directory = isDirectory ? resolve(terminal.cwd, first) : await usualDirectory(terminal)
  refuseForeign(directory, flags, terminal)
  refuseUnmatched(cellsOf(directory), flags)
  if (hasSourceChanged(directory))
    say(
      terminal,
      `eval.yaml has changed since it was planned. This goes by the plan; by the file as it is now: ${evalCommands(directory, terminal.cwd).run}`,
    )
  const cells = retryCells(directory, { cells: isDirectory ? named.slice(1) : named, fresh: flags.fresh })
  if (!flags.quiet) for (const cell of cells) say(terminal, nameOfCell(cell))
  if (cells.length === 0) {
    say(terminal, 'No cell is unscored-infra: there is nothing to run again.')
    return EXIT.completed
  }
  return workHere(directory, flags, terminal)
}

/** `delta eval status`: reads files only. */
export async function status(
  flags: { json?: boolean; watch?: boolean; cells?: string },
  terminal: Terminal,
  named: string | undefined,
): Promise<number> {
  const directory = named === undefined ? await usualDirectory(terminal) : directoryNamed(named, terminal)
  if (flags.cells !== undefined) {
    const found = results(directory).filter(({ standing }) => standing === flags.cells)
    if (flags.json) printJson(terminal, found)
    else
      print(
        terminal,
        found
          .map(
            ({ cell, result }) =>
              `${[nameOfCell(cell), result?.reason, result?.detail].filter(Boolean).join('\t')}\n`,
          )
          .join(''),
      )
    return EXIT.completed
  }
  using stop = stopSignal(terminal)
  for (;;) {
    const now = evalStatus(directory)
    if (flags.json) printJson(terminal, now)
    else print(terminal, statusInWords(now, evalCommands(directory, terminal.cwd), terminal))
    const { pending, running, lost } = now.cells
    if (!flags.watch || pending + running + lost === 0) return EXIT.completed
    if (!(await pause(WATCHED_EVERY_MS, stop.signal))) return EXIT.completed
  }
}

const WATCHED_EVERY_MS = 2000

/** False if it was stopped. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false
  return new Promise((done) => {
    const timer = setTimeout(() => done(true), milliseconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      done(false)
    })
  })
}

interface ReportFlags {
  format: 'text' | 'json' | 'csv' | 'html'
  baseline?: string
  allowMissing?: boolean
  output?: string
}

/** `delta eval report`: what the results of an evaluation show, or those in a CSV file of anybody. */
export async function report(
  flags: ReportFlags,
  terminal: Terminal,
  named: string | undefined,
): Promise<number> {
  const isTable = named?.endsWith('.csv') ?? false
  if (isTable && flags.format === 'csv') throw new UsageError(`${named} is CSV already.`)
  const directory = named === undefined ? await usualDirectory(terminal) : directoryNamed(named, terminal)
  const found = isTable ? undefined : results(directory)
  const shown =
    found === undefined
      ? reportOfScores(
          scoresInCsv(readFileSync(directory, 'utf8'), String(named)),
          basename(directory),
          flags,
        )
      : reportOf(found, readPlan(directory), flags)
  const commands = isTable ? undefined : evalCommands(directory, terminal.cwd)
  const text = {
    text: () => printable(reportText(shown, commands)),
    json: () => `${JSON.stringify(shown, null, 2)}\n`,
    csv: () => reportCsv(found ?? []),
    html: () => reportHtml(shown, commands),
  }[flags.format]()
  if (flags.output === undefined) print(terminal, text)
  else {
    writeFileSync(resolve(terminal.cwd, flags.output), text)
    say(terminal, `${flags.output} is written.`)
  }
  return shown.variants.some(({ score }) => score === null) ? EXIT.failed : EXIT.completed
}

interface InitFlags {
  fork: string
  at: string
  models: string
  score: string
}

/** `delta eval init`: an eval.yaml whose task is a past run. */
export async function init(flags: InitFlags, terminal: Terminal): Promise<number> {
  const path = join(terminal.cwd, 'eval.yaml')
  if (existsSync(path))
    throw new UsageError('eval.yaml is there already. Add the task to it, or make another directory.')
  const forked = await shownRun({ workDir: '.' }, terminal, flags.fork)
  const models = flags.models.split(',').filter(Boolean)
  const lines = [
    'tasks:',
    `  - { fork: ${JSON.stringify(relative(terminal.cwd, forked.directory) || '.')}, at: ${atIn(flags)} }`,
    'variants:',
    ...models.map((model) => `  ${nameFor(model)}: { model: ${JSON.stringify(model)} }`),
    'repeats: 3',
    `score: { command: ${JSON.stringify(flags.score)} }`,
  ]
  writeFileSync(path, `${lines.join('\n')}\n`, { flag: 'wx' })
  say(terminal, 'eval.yaml is written. Run it: delta eval run')
  return EXIT.completed
}

function atIn({ at }: InitFlags): number {
  if (/^\d{1,9}$/.test(at)) return Number(at)
  throw new UsageError(`--at ${at}: give the number of an iteration, or 0 for the task alone.`)
}

/** The name of a model as that of a variant. */
function nameFor(model: string): string {
  return model.replaceAll(/[^\w.+-]/g, '-')
}

async function evaluationIn(
  file: string | undefined,
  { into }: { into?: string },
  terminal: Terminal,
): Promise<{ evaluation: Evaluation; directory: string }> {
  const shownAs = file ?? 'eval.yaml'
  const path = resolve(terminal.cwd, shownAs)
  if (file === undefined && !existsSync(path))
    throw new UsageError(
      'There is no eval.yaml here. Name the directory of an evaluation, or write an eval.yaml as in: delta eval run --help',
    )
  refuseDirectory(path, shownAs, terminal)
  const evaluation = await readEval(path, {
    shownAs,
    findRuns: (named) => runsNamed(named, dirname(path), terminal),
  })
  const directory =
    into === undefined ? join(dirname(path), `${evaluation.name}.eval`) : resolve(terminal.cwd, into)
  return { evaluation, directory }
}

function refuseDirectory(path: string, shownAs: string, { cwd }: Terminal): void {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
  const command =
    planOf(path) === undefined ? `delta eval run ${join(shownAs, 'eval.yaml')}` : evalCommands(path, cwd).run
  throw new UsageError(`${shownAs} is a directory. Name the eval.yaml: ${command}`)
}

async function runsNamed(named: string, cwd: string, terminal: Terminal): Promise<ForkedRun[]> {
  const directory = directoryAt(named, { ...terminal, cwd })
  if (directory !== undefined && runDirectoriesOf(directory).length === 0 && !isOfRun(directory)) return []
  const found = await shownRun({ workDir: '.' }, { ...terminal, cwd }, named)
  const mine = ownRun(found, terminal.env)
  if (mine === undefined) return [{ directory: found.directory, own: undefined }]
  return [
    {
      directory: found.directory,
      own: { home: await agentHomeOf(found, terminal.env), set: mine.overrides },
    },
  ]
}

async function usualDirectory(terminal: Terminal): Promise<string> {
  return (await evaluationIn(undefined, {}, terminal)).directory
}

function directoryNamed(named: string, { cwd }: Terminal): string {
  return resolve(cwd, named)
}

/** From now on the evaluation is this user's, and this plan of it. */
function own(directory: string, plan: string | Buffer, { env }: Terminal): void {
  listEvaluation(directory, env)
  listPlan(directory, plan, env)
}

/** What another's plan names, and lies in its inputs, are that one's commands. */
function refuseForeign(directory: string, { trustRun }: WorkFlags, terminal: Terminal): void {
  const { cwd, env } = terminal
  const plan = planOf(directory)
  if (plan === undefined || isOwnPlan(directory, env)) return
  if (trustRun) {
    own(directory, readFileSync(join(directory, 'plan.json')), terminal)
    return
  }
  const shown = relative(cwd, directory) || '.'
  const agents = new Set(plan.variants.map(({ agent }) => agent)).size
  const why = isOwnEvaluation(directory, env)
    ? `${join(shown, 'plan.json')} is not what you planned`
    : `${shown} was not made by you`
  throw new UsageError(
    `${why}. It would run ${counted(agents, 'agent')} and ${counted(plan.scorers.length, 'scorer')} from ${join(shown, 'inputs')}. Look at them, then add --trust-run.`,
  )
}

function countsOf({ cells, added, kept, rescored, continued, left, open }: Planned): object {
  return { planned: cells.length, added, kept, rescored, continued, left, open: open.length }
}

function headLine(planned: Planned, flags: WorkFlags): string {
  const { plan, cells, added, rescored, continued, left } = planned
  const { name, tasks, variants, repeats } = plan
  const size = `${counted(tasks.length, 'task')} x ${counted(variants.length, 'variant')} x ${counted(repeats, 'repeat')} = ${counted(cells.length, 'cell')}`
  const parts = [
    added === cells.length ? 'all new' : `${added} new`,
    rescored > 0 && `${rescored} to score again`,
    continued > 0 && `${continued} to continue under a higher limit`,
    left > 0 && `${left} no longer planned`,
  ]
  const at = flags.concurrency ?? String(plan.concurrency)
  return `${name}: ${size}, ${parts.filter(Boolean).join(', ')}. ${at} at once, sandbox none.`
}

async function workHere(
  directory: string,
  flags: WorkFlags,
  terminal: Terminal,
  { whenStopped }: { whenStopped?: number } = {},
): Promise<number> {
  const options = optionsIn(flags)
  const progress = evalProgress(directory, terminal, { quiet: flags.quiet ?? false })
  using stop = stopSignal(terminal)
  try {
    const how = await workOn(directory, {
      ...options,
      env: withOwnCommands(terminal.env),
      prices: pricesIn(flags, terminal),
      signal: stop.signal,
      onChange(change) {
        if (change.kind === 'warning') say(terminal, change.message)
      },
    })
    progress.end()
    return tellEnd(directory, { how, flags, terminal, signal: stop.signal, whenStopped })
  } catch (error) {
    progress.end()
    if (isEvaluationError(error)) throw error // it says itself how to go on
    const { lost, pending } = evalStatus(directory).cells
    const { run } = evalCommands(directory, terminal.cwd)
    say(terminal, `${counted(lost + pending, 'cell')} without a result will go on: ${run}`)
    throw error
  }
}

function optionsIn({ concurrency, shard, only }: WorkFlags): WorkOptions {
  const [, number = '', of = ''] = /^(\d+)\/(\d+)$/.exec(shard ?? '') ?? []
  if (shard !== undefined && !(Number(number) >= 1 && Number(number) <= Number(of)))
    throw new UsageError(`--shard ${shard}: give the number of this worker and of all, such as 3/20.`)
  return {
    ...(concurrency !== undefined && { concurrency: wholeNumber('--concurrency', concurrency) }),
    ...(shard !== undefined && { shard: { number: Number(number), of: Number(of) } }),
    only,
  }
}

interface End {
  how: 'done' | 'stopped'
  flags: WorkFlags
  terminal: Terminal
  signal: AbortSignal
  whenStopped: number | undefined
}

function tellEnd(directory: string, { how, flags, terminal, signal, whenStopped }: End): number {
  const now = evalStatus(directory)
  if (flags.json) printJson(terminal, now)
  else if (!flags.quiet)
    say(terminal, statusInWords(now, evalCommands(directory, terminal.cwd), terminal).trimEnd())
  const { unscored_infra, invalid } = now.cells
  if (how === 'done') return unscored_infra + invalid > 0 ? EXIT.failed : EXIT.completed
  if (!flags.quiet) say(terminal, 'Stopped.') // the lines above say what is left, and how to go on
  return whenStopped ?? SIGNAL_EXIT[String(signal.reason)] ?? EXIT.failed
}
