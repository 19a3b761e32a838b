import { homedir } from 'node:os'
import { shortName } from '@delta/engine/internal'
import {
  type AlignedSteps,
  changedFiles,
  type Difference,
  diffRuns,
  type FileChange,
  openTrace,
  type RunDiff,
  type Step,
  type Trace,
} from '@delta/trace'
import { type ShownRunFlags, shownRun } from '../find-shown-run.js'
import { type CallStyle, displayedCall, shownIn } from '../render.js'
import { EXIT, type Terminal } from '../terminal.js'
import { counted, inColumns, money, print, printableLine, printJson, table } from '../text.js'
import { UsageError } from '../usage.js'

interface DiffFlags extends ShownRunFlags {
  mask: string[]
  files?: boolean
  json?: boolean
}

/** `delta diff`: the first difference of two runs, and its cause. Exit code 3 if there is one. Only reads. */
export async function execute(
  flags: DiffFlags,
  terminal: Terminal,
  left: string | undefined,
  right: string | undefined,
): Promise<number> {
  if (left === undefined || right === undefined)
    throw new UsageError('diff compares two runs: delta diff A B.')
  const masks = masksIn(flags.mask)
  const [a, b] = [await traceOf(left, flags, terminal), await traceOf(right, flags, terminal)]
  const diff = await diffRuns(a, b, { masks })
  const files = flags.files ? await changedFiles(a, b) : undefined
  const named = files?.map(({ path, kind }) => ({ path, kind })) ?? files
  if (flags.json) printJson(terminal, named === undefined ? diff : { ...diff, files: named })
  else
    print(
      terminal,
      (await asText(diff, [a, b], terminal)) +
        (files === undefined ? filesInShort(diff) : filesAsText(files)),
    )
  return diff.same ? EXIT.completed : EXIT.different
}

/** What `--mask` hides in a comparison. @throws {UsageError} One is not a regular expression. */
export function masksIn(patterns: readonly string[]): RegExp[] {
  return patterns.map((pattern) => {
    try {
      return new RegExp(pattern, 'gu')
    } catch (cause) {
      const why = (cause as Error).message.replace(/^Invalid regular expression: .*: /s, '')
      throw new UsageError(`--mask ${JSON.stringify(pattern)}: not a regular expression: ${why}.`, { cause })
    }
  })
}

async function traceOf(named: string, flags: DiffFlags, terminal: Terminal): Promise<Trace> {
  return openTrace((await shownRun(flags, terminal, named)).directory)
}

async function asText(diff: RunDiff, [a, b]: [Trace, Trace], { stdout }: Terminal): Promise<string> {
  const heads = table([headOf('A', a, b), headOf('B', b, a)])
  const masked = diff.masked > 0 ? [`${counted(diff.masked, 'text')} masked.`] : []
  if (diff.same) return [heads, `same: ${counted(diff.a.iterations, 'iteration')}.`, ...masked, ''].join('\n')
  const first = diff.first ? sentenceOn(diff.first) : []
  const also = diff.also.map(
    ({ where, left, right, visible_from }) =>
      `${where} ${shown(left)} -> ${shown(right)} (${visible_from === null ? 'no request shows it' : `iteration ${visible_from}`})`,
  )
  const lines = [...first, ...(also.length > 0 ? [`also different: ${also.join('; ')}`] : [])]
  return [heads, ...lines, '', await stepsOf(diff, [a, b], stdout.columns), ...masked].join('\n')
}

/** Runs whose files differ are the same if no command has shown it. */
function filesInShort({ files, same }: RunDiff): string {
  if (!files?.length) return ''
  const some = files.slice(0, MOST_NAMED).map(({ path, kind }) => `${kind} ${printableLine(path)}`)
  const all = files.length > MOST_NAMED ? [...some, '…'] : some
  const differ = `${counted(files.length, 'file')} ${files.length === 1 ? 'differs' : 'differ'}`
  return `${same ? 'warning: ' : ''}after the last iteration ${differ} (${all.join(', ')}); --files names them\n`
}

const MOST_NAMED = 3

function filesAsText(files: readonly FileChange[] | null): string {
  if (files === null) return '\nfiles: one of the runs has no snapshot.\n'
  const lines = files.map(({ path, kind }) => `  ${kind} ${printableLine(path)}\n`)
  return `\ndifferent after the last iteration: ${files.length === 0 ? 'no file' : counted(files.length, 'file')}\n${lines.join('')}`
}

function headOf(name: string, { run }: Trace, beside: Trace): string[] {
  const { runId, metadata, model, lastIteration, status, totals } = run
  const { cost } = totals.all
  return [
    name,
    shortName(runId), // names the run in any command
    inColumns(printableLine(metadata.agent_name ?? ''), NAME_COLUMNS),
    inColumns(printableLine(model ?? ''), NAME_COLUMNS),
    counted(lastIteration, 'iteration'),
    cost === null ? '-' : money(cost),
    `${status}${metadata.reason_code === null ? '' : ` (${metadata.reason_code})`}`,
    (metadata.work_dir ?? '').replace(homedir(), '~') + lineageOf(run, beside.run, name),
  ]
}

/** `, fork of A at 7`, or of a third run by its id. */
function lineageOf({ parent, replay }: Trace['run'], beside: Trace['run'], name: string): string {
  if (parent === undefined) return ''
  const other = name === 'A' ? 'B' : 'A'
  const of = parent.directory === beside.directory ? other : shortName(parent.run_id)
  return `, ${replay ? 'replay' : 'fork'} of ${of} at ${parent.iteration}`
}

function sentenceOn({ step, cause, where, byte, left, right, evidence }: Difference): string[] {
  const place = byte === undefined ? '' : ` at byte ${byte}`
  return [
    `first divergence: iteration ${step}, ${cause.toUpperCase()}: ${where}${place}${evidence === undefined ? '' : `; ${evidence}`}`,
    `  - ${shown(left)}`,
    `  + ${shown(right)}`,
  ]
}

function shown(text: string | null): string {
  return text === null ? 'none' : printableLine(text)
}

/** The iterations before the first difference as one line; of each other one, its first call. */
async function stepsOf(
  { steps, first }: RunDiff,
  [a, b]: [Trace, Trace],
  columns: number | undefined,
): Promise<string> {
  const isBefore = (step: AlignedSteps) =>
    step.same && step.a !== null && first?.at !== 'end' && step.a < (first?.step ?? 0)
  const same = steps.filter(isBefore)
  const rest = steps.filter((step) => !isBefore(step))
  const left = await actionsIn(a, new Set(rest.map((step) => step.a)))
  const right = await actionsIn(b, new Set(rest.map((step) => step.b)))
  const width = Math.max(16, Math.floor(((columns || USUAL_COLUMNS) - 20) / 2))
  const actionIn = (actions: ReadonlyMap<number | null, Action>, n: number | null) => {
    return [String(n ?? ''), actionInColumns(actions.get(n), width)]
  }
  const rows = rest.map((step) => [...actionIn(left, step.a), markOf(step), ...actionIn(right, step.b)])
  const until = same.length > 0 ? `${same.length > 1 ? '1-' : ''}${same.at(-1)?.a} same\n` : ''
  return until + (rows.length === 0 ? '' : table([['A', '', '', 'B', ''], ...rows]))
}

function markOf({ a, b, same }: AlignedSteps): string {
  if (same) return '='
  if (a === null) return '>'
  return b === null ? '<' : '~'
}

const USUAL_COLUMNS = 100
const NAME_COLUMNS = 24

async function actionsIn(
  trace: Trace,
  wanted: ReadonlySet<number | null>,
): Promise<ReadonlyMap<number | null, Action>> {
  const from = Math.min(...[...wanted].filter((n) => n !== null))
  const actions = new Map<number | null, Action>()
  if (!Number.isFinite(from)) return actions
  let tools = await toolsAt(trace, from)
  for await (const step of trace.steps({ from })) {
    tools = step.starts.map((start) => shownIn(start).tools).at(-1) ?? tools
    if (wanted.has(step.n)) actions.set(step.n, actionOf(step, tools))
  }
  return actions
}

/** What the start of the engine that made an iteration says of its tools. */
async function toolsAt({ index, steps }: Trace, n: number): Promise<CallStyle['tools']> {
  const engine = index.steps.find((step) => step.n === n)?.engine
  const first = index.steps.find((step) => step.engine === engine)?.n ?? n
  for await (const { starts } of steps({ from: first, to: first }))
    for (const start of starts.slice(-1)) return shownIn(start).tools
  return new Map()
}

/** What an iteration did, and what came of it. */
interface Action {
  what: string
  outcome: string
}

function actionOf({ calls: [call, ...more], thought }: Step, tools: CallStyle['tools']): Action {
  if (call === undefined) return { what: `answer: ${thought?.content ?? 'none'}`, outcome: '' }
  const { name, args, command, status, exitCode } = call
  const outcome = exitCode === null ? (status ?? 'no result') : `exit ${exitCode}`
  const others = more.length > 0 ? ` and ${counted(more.length, 'call')}` : ''
  const displayed = command === null ? undefined : displayedCall(tools.get(name), args)
  return { what: displayed ?? `${name}: ${command ?? ''}`, outcome: ` (${outcome})${others}` }
}

/** A long command is cut, not its outcome. */
function actionInColumns(action: Action | undefined, width: number): string {
  if (action === undefined) return ''
  const { what, outcome } = action
  return inColumns(printableLine(what), Math.max(8, width - outcome.length)) + outcome
}
