import type {
  ActionRequest,
  ActionResult,
  EngineEnd,
  ErrorEvent,
  HookExecutionAudit,
  JournalEvent,
  Thought,
} from '@delta/journal'
import { beginning, beginningOfOutput } from './beginning.js'
import { commandLine, type WrittenCommands } from './command-line.js'
import { counted } from './counted.js'
import { duration } from './duration.js'
import { printable, printableLine } from './printable.js'
import type { Style } from './style.js'

export interface Detail {
  style: Style
  /** Whole outputs, hooks, tokens. */
  verbose: boolean
  /** Also what a person following a run is told otherwise: their messages, the answer, which goes to stdout, and why it failed. */
  transcript?: boolean
  /** What tools' authors wrote, which is shown as they wrote it. */
  written?: WrittenCommands
}

/** One event as lines for people; none when there is nothing to say. Control sequences are made visible. */
export function describeEvent(event: JournalEvent, detail: Detail): string[] {
  const { style, verbose, transcript = false } = detail
  switch (event.type) {
    case 'ENGINE_START': {
      const verb = event.resumed ? 'resuming' : 'run'
      const line = `${verb} ${event.run_id} of ${event.agent_name ?? 'an agent'} in ${event.work_dir ?? '?'}`
      return [style.dim(printableLine(line))]
    }
    case 'USER_MESSAGE':
      return transcript ? indent('> ', event.content, style.bold) : []
    case 'THOUGHT':
      return event.tool_calls.length > 0 || transcript ? thought(event, detail) : []
    case 'ACTION_REQUEST':
      return isQuestion(event) ? [] : command(event, detail) // HUMAN_INPUT_REQUEST tells it
    case 'ACTION_RESULT':
      if (isAnswer(event)) return [] // HUMAN_INPUT_RECEIVED has told it
      return [
        ...output(event.observation_content, verbose),
        ...outcome(event).map((line) => style.dim(`     ${line}`)),
      ]
    case 'HUMAN_INPUT_REQUEST':
      // while it runs, whoever asks or says how to answer shows the question
      return transcript ? indent('   ? ', event.prompt, style.yellow) : []
    case 'HUMAN_INPUT_RECEIVED':
      return indent('   > ', event.response, style.bold)
    case 'ERROR':
      return failure(event, detail)
    case 'SYSTEM_MESSAGE':
      return indent('   ', event.content, style.dim)
    case 'HOOK_EXECUTION_AUDIT':
      return [...(verbose ? indent('   ', hookLine(event), style.dim) : []), ...replacement(event, detail)]
    case 'ENGINE_END':
      return [style.dim(ending(event, detail))]
    default:
      return event satisfies never
  }
}

export function thoughtTokens({ usage }: Thought): string {
  if (usage?.prompt_tokens === undefined) return ''
  return ` (${usage.prompt_tokens} + ${usage.completion_tokens ?? 0} tokens)`
}

function thought(event: Thought, { style, verbose }: Detail): string[] {
  const number = `${event.iteration}.`
  const tokens = verbose ? style.dim(thoughtTokens(event)) : ''
  const [first = '', ...rest] = withoutEnd(event.content).split('\n')
  return [
    `${style.dim(number)} ${style.bold(first)}${tokens}`.trimEnd(),
    ...rest.map((line) => `   ${style.bold(line)}`),
  ]
}

const NOTHING_WRITTEN: WrittenCommands = new Map()

/** The command as it would be typed, ready to be pasted. */
function command(event: ActionRequest, { style, verbose, written = NOTHING_WRITTEN }: Detail): string[] {
  const [first = '', ...rest] = beginning(typed(event, written), verbose)
  return [`   $ ${first}`, ...rest].map((line) => style.cyan(line))
}

function output(text: string, whole: boolean): string[] {
  return text === '' ? [] : beginningOfOutput(text.replace(/\n$/, ''), whole).map((line) => `     ${line}`)
}

function hookLine(event: HookExecutionAudit): string {
  const why = event.error_message ? ` (${event.error_message})` : ''
  return `hook ${event.hook_name}: ${event.status}${timeOf(event)}${why}`
}

/** What the model read in place of a result, which stands above as the tool gave it. */
function replacement(
  { hook_name: name, observation_override: text }: HookExecutionAudit,
  { style, verbose }: Detail,
): string[] {
  if (typeof text !== 'string') return []
  const isEmpty = text.trim() === ''
  const said = `   hook ${printableLine(name)} replaced this result; the model reads${isEmpty ? ' nothing' : ':'}`
  return [style.yellow(said), ...(isEmpty ? [] : output(text, verbose))]
}

/** A failure that is tried again is one line; of the last one a person is told when the run has ended. */
function failure(event: ErrorEvent, { style, transcript }: Detail): string[] {
  if (!event.recoverable) return transcript ? indent('   ! ', event.error_message, style.red) : []
  const [first = ''] = event.error_message.split('\n')
  const { delay_ms: delay } = Object(event.error_details) as { delay_ms?: unknown }
  const said =
    typeof delay === 'number'
      ? `${first.replace(/\.$/, '')}; trying again ${delay < 1 ? 'at once' : `in ${duration(delay)}`}`
      : first
  return indent('   ! ', said, style.red)
}

function outcome(event: ActionResult): string[] {
  const { exit_code: exitCode, status, duration_ms: ms } = event
  const ended = typeof exitCode === 'number' ? `exit ${exitCode}` : status
  return [typeof ms === 'number' ? `${ended}, ${duration(ms)}` : ended]
}

/** A call of which HUMAN_INPUT_REQUEST tells. The arguments of one that was refused are kept as the model wrote them. */
export function isQuestion({ tool_name: name, tool_args: args }: ActionRequest): boolean {
  return name === 'ask_human' && typeof args !== 'string'
}

/** A person's answer, which has neither a command nor an exit code; what the model is told of a secret one is not for people. */
export function isAnswer({ tool_name: name, status }: ActionResult): boolean {
  return name === 'ask_human' && status === 'SUCCESS'
}

function ending(event: EngineEnd, { transcript }: Detail): string {
  const { status, final_iteration: iterations = 0, usage, reason } = event
  const tokens = usage?.total_tokens ? `, ${usage.total_tokens} tokens` : ''
  const told = (status === 'FAILED' || status === 'COMPLETED') && !transcript // by whoever ends the command
  const why = reason && !told ? ` (${printable(reason.split('\n')[0] ?? '')})` : ''
  return `${status}${why} after ${counted(iterations, 'iteration')}${tokens}`
}

function indent(prefix: string, text: string, paint: (text: string) => string): string[] {
  const next = ' '.repeat(prefix.length)
  return withoutEnd(text)
    .split('\n')
    .map((line, index) => paint(`${index === 0 ? prefix : next}${line}`))
}

/** A line end at the end begins no further line. */
function withoutEnd(text: string): string {
  return printable(text.replace(/\n+$/, ''))
}

/** The command as it would be typed; of a call that was refused the name, and the arguments as the model wrote them. */
function typed(request: ActionRequest, known: WrittenCommands): string {
  const { tool_name: name, tool_args: args } = request
  return commandLine(request, known) ?? `${printableLine(name)} (refused)${written(args)}`
}

/** Arguments behind the name of a call that has no command, on the same line; '' for none. */
export function written(args: unknown): string {
  const text = typeof args === 'string' ? args : (JSON.stringify(args) ?? '')
  return text === '' || text === '{}' ? '' : ` ${printableLine(text)}`
}

function timeOf({ duration_ms: ms }: { duration_ms?: number | undefined }): string {
  return ms === undefined ? '' : `, ${duration(ms)}`
}
