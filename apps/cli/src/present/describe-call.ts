import type { ActionRequest, ActionResult, HookExecutionAudit } from '@delta/journal'
import { beginning, beginningOfOutput } from './beginning.js'
import { commandLine, type WrittenCommands, writtenArguments } from './command-line.js'
import type { Detail } from './detail.js'
import { duration } from './duration.js'
import { printableLine } from './printable.js'

const NOTHING_WRITTEN: WrittenCommands = new Map()

/** The command as it would be typed, ready to be pasted. */
export function describeRequest(
  event: ActionRequest,
  { style, verbose, written = NOTHING_WRITTEN }: Detail,
): string[] {
  if (isQuestion(event)) return [] // whoever asks shows it
  const [first = '', ...rest] = beginning(typed(event, written), verbose)
  return [`   $ ${first}`, ...rest].map((line) => style.cyan(line))
}

/**
 * The command as it would be typed; of a call that was refused, or whose command an old journal does not have, the name,
 * and the arguments as the model wrote them.
 */
function typed(request: ActionRequest, known: WrittenCommands): string {
  const { tool_name: name, tool_args: args, resolved_command: command } = request
  const refused = command === null ? ' (refused)' : ''
  return commandLine(request, known) ?? `${printableLine(name)}${refused}${writtenArguments(args)}`
}

/** What the tool printed, and how it ended. */
export function describeResult(event: ActionResult, { style, verbose }: Detail): string[] {
  if (isAnswer(event)) return [] // HUMAN_INPUT_RECEIVED has told it
  const { observation_content: observation, exit_code: exitCode, status, duration_ms: ms } = event
  const ended = typeof exitCode === 'number' ? `exit ${exitCode}` : status
  return [...output(observation, verbose), style.dim(`     ${ended}${timeOf(ms)}`)]
}

/** The arguments of a question that was refused are kept as the model wrote them. */
export function isQuestion({ tool_name: name, tool_args: args }: ActionRequest): boolean {
  return name === 'ask_human' && typeof args !== 'string'
}

/** A person's answer, which has neither a command nor an exit code; what the model is told of a secret one is not for people. */
export function isAnswer({ tool_name: name, status }: ActionResult): boolean {
  return name === 'ask_human' && status === 'SUCCESS'
}

/** `hook on_error: SUCCESS, 12 ms`. */
export function hookLine({
  hook_name: name,
  status,
  duration_ms: ms,
  error_message,
}: HookExecutionAudit): string {
  return `hook ${name}: ${status}${timeOf(ms)}${error_message ? ` (${error_message})` : ''}`
}

/** What the model read in place of a result, which stands above as the tool gave it. */
export function describeReplacement(
  { hook_name: name, observation_override: text }: HookExecutionAudit,
  { style, verbose }: Detail,
): string[] {
  if (typeof text !== 'string') return []
  const isEmpty = text.trim() === ''
  const said = `   hook ${printableLine(name)} replaced this result; the model reads${isEmpty ? ' nothing' : ':'}`
  return [style.yellow(said), ...(isEmpty ? [] : output(text, verbose))]
}

function output(text: string, whole: boolean): string[] {
  return text === '' ? [] : beginningOfOutput(text.replace(/\n$/, ''), whole).map((line) => `     ${line}`)
}

function timeOf(ms: number | null | undefined): string {
  return typeof ms === 'number' ? `, ${duration(ms)}` : ''
}
