import type { ActionRequest, ActionResult, HookExecutionAudit } from '@delta/journal'
import { beginning, beginningOfOutput } from './beginning.js'
import { callLine, type ShownTools } from './command-line.js'
import type { Detail } from './detail.js'
import { duration } from './duration.js'
import { printableLine } from './printable.js'

const NO_TOOLS: ShownTools = new Map()

/** The call: its tool, and the command as it would be typed, ready to be pasted. */
export function describeRequest(
  event: ActionRequest,
  { style, verbose, tools = NO_TOOLS }: Detail,
): string[] {
  if (isQuestion(event)) return [] // whoever asks the question shows it
  const [first = '', ...rest] = beginning(callLine(event, tools, verbose), verbose)
  return [`   ${first}`, ...rest].map((line) => style.cyan(line))
}

/** What the tool printed, and how it ended. */
export function describeResult(event: ActionResult, { style, verbose }: Detail): string[] {
  if (isAnswer(event)) return [] // HUMAN_INPUT_RECEIVED has shown it
  const { observation_content: observation, exit_code: exitCode, status, duration_ms: ms } = event
  const ended = typeof exitCode === 'number' ? `exit ${exitCode}` : status
  return [...output(observation, verbose), style.dim(`     ${ended}${timeOf(ms)}`)]
}

/** A refused question has its arguments as text, as the model wrote them, and is shown like any refused call. */
export function isQuestion({ tool_name: name, tool_args: args }: ActionRequest): boolean {
  return name === 'ask_human' && typeof args !== 'string'
}

/** A person's answer: it has no command and no exit code, and what the model reads about a secret is not for people. */
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

/** What the model read in place of a result; the original is shown above. */
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
