import { styleText } from 'node:util'
import type { EngineEvent } from '@delta/engine'
import { quoteForPerson } from '@delta/executor'
import { renderDisplay } from '@delta/executor/internal'
import {
  type ActionRequest,
  type ActionResult,
  type EngineEnd,
  type EngineStart,
  type ErrorEvent,
  type HookExecutionAudit,
  type HumanInputRequest,
  isKnownEvent,
  type JournalEvent,
  type StoredEvent,
  type Thought,
  type Totals,
} from '@delta/journal/runs'
import { reasoningOf as reasoningText } from '@delta/model'
import { textOf } from '@delta/model/internal'
import { counted, duration, inColumns, money, printable, printableLine, wrapped } from './text.js'

export type Style = (format: 'bold' | 'dim' | 'cyan' | 'yellow' | 'red', text: string) => string

/** No colours: the style of files and pipes. */
const PLAIN: Style = (_, text) => text

/** Colours for a terminal; plain text for anything else, and wherever `NO_COLOR` is set. */
export function styleFor(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): Style {
  const isColoured = stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb'
  return isColoured ? (format, text) => styleText(format, text, { validateStream: false }) : PLAIN
}

/** How events are rendered. */
export interface Detail {
  style: Style
  /** Whole outputs, hooks, reasoning. */
  verbose: boolean
  /** Shows what each thought took; default: as `verbose`. */
  tokens?: boolean
  /** How wide the terminal is, which wraps prose; undefined for a file or a pipe. */
  columns?: number | undefined
  /** Includes what a person running the agent sees elsewhere: their own messages, the answer (on stdout), why it failed. */
  transcript?: boolean
}

/** What an `ENGINE_START` says about the calls that follow. */
export interface CallStyle {
  /** What the author of each tool says of how its calls are shown, by its name. */
  tools: ReadonlyMap<string, ShownTool>
  /** Calls run side by side, so that each result names its tool. */
  isConcurrent: boolean
}

interface ShownTool {
  /** The words of its command as its author wrote them; none of an imported one. */
  written: readonly string[]
  display: string | undefined
}

/** What an engine reports; and of a journal also what no engine of today writes. */
export type Shown = EngineEvent | { kind: 'journal'; event: StoredEvent }

/** What earlier events of the run say about the next one. */
export interface Before {
  /** The model of the last iteration, if it is known. */
  model?: string | null | undefined
  /** When the last event was appended, or what it tells of was over: a thought after it took that long. */
  at?: string | undefined
  /** A command waits for a person's decision. */
  isApprovalOpen: boolean
}

/** Renders the events of one run, in order. The last `ENGINE_START` says how calls are shown. */
export function renderer(detail: Detail): (event: Shown) => string[] {
  let shown: CallStyle = { tools: new Map(), isConcurrent: false }
  let before: Before = { isApprovalOpen: false }
  return (event) => {
    const stored = 'event' in event && isKnownEvent(event.event) ? event.event : undefined
    if (stored?.type === 'ENGINE_START') shown = shownIn(stored)
    const lines = renderEvent(event, { ...detail, ...shown, ...before })
    if (stored) before = after(stored, before)
    return lines
  }
}

/** What an event, and what `before` said, say about the next one. */
export function after(event: JournalEvent & { timestamp: string }, before: Before): Before {
  return { ...afterKind(event, before), at: requestFrom(event, before) }
}

/** When a request began, if one follows: neither a wait nor a hook that looks at the answer is time of the request. */
function requestFrom(event: JournalEvent & { timestamp: string }, { at }: Before): string {
  const later = (from: string, ms: unknown) =>
    typeof ms === 'number' && Date.parse(from) + ms <= LAST_TIME
      ? new Date(Date.parse(from) + ms).toISOString()
      : from
  if (event.type === 'ERROR') return later(event.timestamp, Object(event.error_details).delay_ms)
  const isBesides = event.type === 'HOOK_EXECUTION_AUDIT' && BESIDES.has(event.hook_name)
  return isBesides && at !== undefined ? later(at, event.duration_ms) : event.timestamp
}

/** Hooks between a request and its thought. */
const BESIDES = new Set(['post_llm_response', 'on_error'])
/** Of JavaScript. Milliseconds since 1970. */
const LAST_TIME = 8.64e15

function afterKind(event: JournalEvent, before: Before): Before {
  switch (event.type) {
    case 'THOUGHT':
      return { ...before, model: event.model ?? before.model }
    case 'HUMAN_INPUT_REQUEST':
      return { ...before, isApprovalOpen: event.argv !== undefined }
    case 'HUMAN_INPUT_RECEIVED':
    case 'ACTION_RESULT':
      return { ...before, isApprovalOpen: false }
    default:
      return before
  }
}

type Rendering = Detail & CallStyle & Before

/** One event as lines for people; none when there is nothing to say. Control sequences are made visible. */
function renderEvent(event: Shown, detail: Rendering): string[] {
  if (event.kind === 'notice') return [detail.style('dim', `note: ${printable(event.message)}`)]
  if (event.kind !== 'journal' && event.kind !== 'open') return [] // pieces of what follows as a THOUGHT
  const stored: StoredEvent = event.event
  // what was left open is shown again, for its answer or its result comes next
  if (isKnownEvent(stored))
    return renderStored(stored, event.kind === 'open' ? { ...detail, transcript: true } : detail)
  return detail.transcript ? [`   ${printableLine(stored.type)}`] : []
}

function renderStored(event: JournalEvent, detail: Rendering): string[] {
  const { style, verbose, columns, transcript = false } = detail
  const fit = (lines: readonly string[]): string[] => lines.flatMap((line) => wrapped(line, columns))
  const said = (format: Parameters<Style>[0], prefix: string, text: string): string[] =>
    fit(indented(prefix, text)).map((line) => style(format, line))
  switch (event.type) {
    case 'ENGINE_START':
      return fit([style('dim', printableLine(start(event, transcript)))])
    case 'USER_MESSAGE':
      if (!transcript && event.inbox_id === undefined) return []
      return [
        ...said('bold', '> ', textOf(event.content)),
        ...(detail.isApprovalOpen ? [style('dim', NO_DECISION)] : []),
      ]
    case 'THOUGHT':
      if (transcript) return fit([...changeOfModel(event, detail), ...thought(event, detail)])
      if (event.tool_calls.length > 0)
        return fit([...(verbose ? changeOfModel(event, detail) : []), ...thought(event, detail)])
      // the answer itself is on stdout
      return verbose
        ? fit([...changeOfModel(event, detail), ...thought({ ...event, content: '' }, detail)])
        : []
    case 'ACTION_REQUEST': {
      if (isQuestion(event)) return [] // the question is shown where it is asked
      const [first = '', ...rest] = beginning(callLine(event, detail), verbose)
      const isRunAgain = event.attempt > 1 && Array.isArray(event.argv) // a refused call has none
      const lines = [`   ${first}`, ...rest].map((line) => style('cyan', line))
      return isRunAgain ? [style('dim', RUN_AGAIN), ...lines] : lines
    }
    case 'ACTION_RESULT':
      if (isAnswer(event)) return [] // HUMAN_INPUT_RECEIVED has shown it
      return [
        ...childRuns(event).map((line) => style('dim', line)),
        ...output(event.observation_content, verbose),
        style('dim', `     ${ended(event, detail)}`),
      ]
    case 'HUMAN_INPUT_REQUEST':
      if (!transcript) return [] // it is asked at the terminal, or when the run has ended
      if (event.argv === undefined) return said('yellow', '   ask_human ? ', event.prompt)
      return approval(event, detail)
    case 'HUMAN_INPUT_RECEIVED':
      return said('bold', '   > ', event.remember === undefined ? event.response : 'always')
    case 'ERROR':
      if (event.recoverable) return said('red', '   ! ', retry(event))
      return transcript ? said('red', '   ! ', event.error_message) : [] // reported when the run has ended
    case 'SYSTEM_MESSAGE':
      return said('dim', '   ', event.content)
    case 'HOOK_EXECUTION_AUDIT':
      return [...(verbose ? said('dim', '   ', hookLine(event)) : []), ...replacement(event, detail)]
    case 'ENGINE_END':
      return fit([style('dim', ending(event, transcript))])
    case 'SNAPSHOT':
      return []
    default:
      return event satisfies never
  }
}

/** A transcript also names the files that had changed, as a notice did when the run resumed. */
function start(event: EngineStart, transcript: boolean): string {
  const { resumed, run_id: runId, agent_name: agent, work_dir: workDirectory, changed_files: files } = event
  const changed = files && transcript ? ` (changed since its last start: ${files.join(', ')})` : ''
  const { parent, replay, inherited } = event
  if (parent && !inherited)
    return `${replay ? 'replay' : 'fork'} ${runId} of ${parent.run_id} at iteration ${parent.iteration}, in ${workDirectory ?? '?'}`
  if (inherited) return `inherited: run ${runId} of ${agent ?? 'an agent'} in ${workDirectory ?? '?'}`
  return `${resumed ? 'resuming' : 'run'} ${runId} of ${agent ?? 'an agent'} in ${workDirectory ?? '?'}${changed}`
}

/** Printed below a message that came while a command waited for approval, since `> yes` looks like the decision. */
const NO_DECISION = '   (a message, which approves nothing)'

/** `model: gpt-5 (before: gpt-4o)`, above the first thought of another model. */
export function changeOfModel(
  { model }: Thought,
  { style, model: before }: Pick<Rendering, 'style' | 'model'>,
): string[] {
  if (!model || !before || model === before) return []
  return [style('dim', `model: ${printableLine(model)} (before: ${printableLine(before)})`)]
}

/** What was asked about a command. Its own lines are left as they are: they are judged, and pasted. */
function approval({ prompt }: HumanInputRequest, { style, columns }: Rendering): string[] {
  const [question = '', ...command] = indented('   ? ', prompt)
  return [...wrapped(question, columns), ...command].map((line) => style('yellow', line))
}

/** The runs that a call started, one a line. */
function childRuns({ child_runs: runs = [] }: ActionResult): string[] {
  return runs.map(({ run_id: id, directory }) => `     run ${printableLine(id)}: ${printableLine(directory)}`)
}

/** What the model said, behind the number of its iteration; with `-v` below what it reasoned. */
function thought(event: Thought, { style, verbose, tokens = verbose, transcript, at }: Rendering): string[] {
  const words = event.content === '' ? [] : linesOf(event.content).map((line) => style('bold', line))
  const [first, ...rest] = [...(verbose ? reasoningOf(event, style) : []), ...words]
  const lines = [first === undefined ? number(event, style) : `${number(event, style)} ${first}`, ...rest]
  const after = `${tokens ? tokensOf(event, verbose ? at : undefined) : ''}${transcript && !verbose ? mentionOfReasoning(event) : ''}`
  return lines.map((line, index) => {
    const isLast = index === lines.length - 1 && after !== ''
    return `${index === 0 ? '' : '   '}${line}${isLast ? style('dim', after) : ''}`
  })
}

function number({ iteration }: Thought, style: Style): string {
  return style('dim', `${iteration}.`)
}

/**
 * ` (120 + 14 tokens, 80 cached, 2.1 s)`: of the request, and of the answer. Where the provider did not count, ` (2.1 s)` or ''.
 *
 * @param since - When the request was made, to say how long it took.
 */
export function tokensOf(event: Thought & { timestamp: string }, since?: string): string {
  const ms = since === undefined ? undefined : Math.max(0, Date.parse(event.timestamp) - Date.parse(since))
  if (!event.tokens) return ms === undefined ? '' : ` (${duration(ms)})`
  const { input, cache_read, cache_write, output, reasoning } = event.tokens
  const cached = cache_read > 0 ? `, ${cache_read} cached` : ''
  const took = timeOf(ms)
  return ` (${input + cache_read + cache_write} + ${output + reasoning} tokens${cached}${took})`
}

/** The model's reasoning as lines, without indentation; none if the provider does not show it. */
function reasoningOf(event: Thought, style: Style): string[] {
  const text = reasoningIn(event)
  return text === undefined ? [] : indented('∴ ', text.trim()).map((line) => style('dim', line))
}

function reasoningIn({ message }: Thought): string | undefined {
  const text = reasoningText(Object(message))
  return text.trim() === '' ? undefined : text
}

/** ` (reasoned: 412 tokens; -v shows it)`; '' of a model that did not. */
function mentionOfReasoning(event: Thought): string {
  const { reasoning = 0 } = event.tokens ?? {}
  const count = reasoning > 0 ? `: ${counted(reasoning, 'token')}` : ''
  if (reasoningIn(event) !== undefined) return ` (reasoned${count}; -v shows it)`
  return count === '' ? '' : ` (reasoned${count})`
}

const RUN_AGAIN = '     cut off before it had a result; it is run again:'

/** A refused question has its arguments as text, as the model wrote them, and is shown like any refused call. */
function isQuestion({ tool_name: name, tool_args: args }: ActionRequest): boolean {
  return name === 'ask_human' && typeof args !== 'string'
}

/** A person's answer: it has no command and no exit code, and what the model reads about a secret is not for people. */
function isAnswer({ tool_name: name, status }: ActionResult): boolean {
  return name === 'ask_human' && status === 'SUCCESS'
}

/** `exit 0, 12 ms`; behind the tool's name where calls run side by side. */
function ended(event: ActionResult, { isConcurrent }: Rendering): string {
  const { tool_name: name, exit_code: exitCode, status, duration_ms: ms } = event
  const isWrong = status === 'ERROR' && exitCode === 0 // it ran, and did not print what it should
  const how = typeof exitCode === 'number' && !isWrong ? `exit ${exitCode}` : status
  return `${isConcurrent ? `${printableLine(name)}: ` : ''}${how}${timeOf(ms)}`
}

function timeOf(ms: number | null | undefined): string {
  return typeof ms === 'number' ? `, ${duration(ms)}` : ''
}

/** A failure that is retried is one line. */
function retry({ error_message: message, error_details: details }: ErrorEvent): string {
  const [first = ''] = message.split('\n')
  const { delay_ms: delay, unless } = Object(details) as { delay_ms?: unknown; unless?: unknown }
  if (typeof delay !== 'number') return first
  const exception = unless === 'on_error' ? ', unless the on_error hook stops the run' : ''
  const when = delay < 1 ? 'at once' : `in ${duration(delay)}`
  return `${first.replace(/\.$/, '')}; trying again ${when}${exception}`
}

/** `hook on_error: SUCCESS, 12 ms`. */
function hookLine(event: HookExecutionAudit): string {
  const { hook_name: name, status, duration_ms: ms, error_message: error } = event
  return `hook ${name}: ${status}${timeOf(ms)}${error ? ` (${error})` : ''}`
}

/** What the model read in place of a result; the original is shown above. */
function replacement(event: HookExecutionAudit, { style, verbose }: Rendering): string[] {
  const { hook_name: name, observation_override: text } = event
  if (typeof text !== 'string') return []
  const isEmpty = text.trim() === ''
  const what = `   hook ${printableLine(name)} replaced this result; the model reads${isEmpty ? ' nothing' : ':'}`
  return [style('yellow', what), ...(isEmpty ? [] : output(text, verbose))]
}

/** The reason of a failure stands in the `ERROR` before. */
function ending(
  { status, final_iteration: iterations = 0, usage, totals, reason }: EngineEnd,
  transcript: boolean,
): string {
  const all = totals === undefined ? String(usage?.total_tokens ?? 0) : tokensIn(totals)
  const tokens = all === '0' ? '' : `, ${all} tokens`
  const cost = costIn(totals)
  const isTold = status === 'FAILED' || (status === 'COMPLETED' && !transcript) // the command's last lines say it
  const why = reason && !isTold ? ` (${printable(reason.split('\n')[0] ?? '')})` : ''
  return `${status}${why} after ${counted(iterations, 'iteration')}${tokens}${cost}`
}

/**
 * `1840`, or `~2093` if some were estimated, because the provider did not count them: of a run and its sub-agents. What neither
 * counts nor costs anything, such as a script, has none.
 *
 * @param totals - Anybody may have written them.
 */
export function tokensIn(totals: object): string {
  const { by_model } = totals as Partial<Totals>
  let [all, estimates] = [0, 0]
  for (const { tokens, estimated, cost } of Object.values(by_model ?? {}).map(Object)) {
    const counted = Object.values(Object(tokens)).reduce(
      (sum: number, count) => sum + (Number(count) || 0),
      0,
    )
    const guessed = counted === 0 && cost === 0 ? 0 : Number(estimated) || 0
    all += counted + guessed
    estimates += guessed
  }
  return `${estimates > 0 ? '~' : ''}${all}`
}

/** `, $0.0132`, of the run and its sub-agents; '' where nothing is paid, or nobody knows a price. */
function costIn(totals: EngineEnd['totals']): string {
  const { cost } = Object(totals?.all) as Partial<Totals['all']>
  return cost ? `, ${money(cost)}` : ''
}

/** How calls are shown that follow a start of the engine. */
export function shownIn({ config }: Pick<EngineStart, 'config'>): CallStyle {
  const { tools, tool_concurrency: concurrency } = Object(config) as Record<string, unknown>
  const shown = new Map<string, ShownTool>()
  for (const tool of Array.isArray(tools) ? tools : []) {
    const { name, command, trust, display } = Object(tool) as Record<string, unknown>
    if (typeof name !== 'string' || !Array.isArray(command)) continue
    shown.set(name, {
      written: trust === undefined ? command.filter((word) => typeof word === 'string') : [],
      display: typeof display === 'string' ? display : undefined,
    })
  }
  return { tools: shown, isConcurrent: typeof concurrency === 'number' && concurrency > 1 }
}

/** Columns that one value in a `display:` text may take. */
const WIDEST_VALUE = 60

/**
 * A call as people see it: `write $ tee draft.txt`, or what `display:` of its tool says instead; of a call without a command,
 * because it was refused or its journal is old, the arguments as the model wrote them. With `-v` always the command.
 */
function callLine(request: ActionRequest, { tools, verbose }: Rendering): string {
  const { tool_name: name, tool_args: args, resolved_command: resolved } = request
  const tool = tools.get(name)
  if (typeof resolved !== 'string') {
    const written = typeof args === 'string' ? args : (JSON.stringify(args) ?? '')
    const shown = written === '' || written === '{}' ? '' : ` ${printableLine(written)}`
    return `${printableLine(name)}${resolved === null ? ' (refused)' : ''}${shown}`
  }
  const displayed = verbose ? undefined : displayedCall(tool, args)
  return displayed ?? `${printableLine(name)} $ ${commandLine(resolved, request, tool)}`
}

/** What `display:` of a tool says of a call; undefined of a tool without one. */
export function displayedCall(
  tool: Pick<ShownTool, 'display'> | undefined,
  args: unknown,
): string | undefined {
  if (tool?.display === undefined) return undefined
  return printableLine(
    renderDisplay(tool.display, args, (value) => inColumns(printableLine(value), WIDEST_VALUE)),
  )
}

/**
 * The command as it would be typed. A script by the tool's author keeps its lines. In the model's arguments, line breaks are
 * escaped, so that no argument can begin a new line and pass for the next step of the run. A sandboxed command is shown without its sandbox.
 */
function commandLine(
  resolved: string,
  { argv, sandbox }: ActionRequest,
  tool: ShownTool | undefined,
): string {
  if (!argv) return resolved.replaceAll('\n', '\n     ')
  const inside = quoteForPerson(sandbox?.argv ?? argv, tool?.written)
  return sandbox === undefined ? inside : `${inside} (${printableLine(sandbox.with)})`
}

/** A text as lines: the prefix before the first, the others aligned below it. */
function indented(prefix: string, text: string): string[] {
  return linesOf(text).map((line, index) => (index === 0 ? prefix : ' '.repeat(prefix.length)) + line)
}

/** The lines of a text, made safe for a terminal. Newlines at its end begin no further line. */
function linesOf(text: string): string[] {
  return printable(text.replace(/\n+$/, '')).split('\n')
}

function output(text: string, whole: boolean): string[] {
  return text === '' ? [] : beginning(text.replace(/\n$/, ''), whole).map((line) => `     ${line}`)
}

/** How much of a command or of its output is shown without `-v`: lines, and characters of each. */
const SHOWN_LINES = 8
const SHOWN_CHARACTERS = 300

/** The beginning of a long text. The whole is in the journal, and `delta show --step` prints it. */
function beginning(text: string, whole: boolean): string[] {
  const lines = printable(text).split('\n')
  if (whole) return lines
  const rest = lines.slice(SHOWN_LINES)
  const more = rest.length === 0 ? [] : [`… ${counted(rest.length, 'more line')}`]
  return [...lines.slice(0, SHOWN_LINES).map(cut), ...more]
}

function cut(line: string): string {
  const characters = [...line] // by code points: never half a character
  const rest = characters.length - SHOWN_CHARACTERS
  if (rest <= 0) return line
  return `${characters.slice(0, SHOWN_CHARACTERS).join('')} … ${counted(rest, 'more character')}`
}
