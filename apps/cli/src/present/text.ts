import type { EngineEvent, RunResult } from '@delta/engine'
import { isKnownEvent, type JournalEvent } from '@delta/journal'
import { EXIT, type Terminal } from '../terminal.js'
import { printable } from './printable.js'
import { type Style, styleFor } from './style.js'

/** Lines of a tool's output that are shown without `-v`. */
const SHOWN_LINES = 8

/** Progress for people on stderr: each thought, each command as it would be typed, its result. The answer goes to stdout. */
export function textPresenter(
  terminal: Terminal,
  { quiet = false, verbose = false }: { quiet?: boolean; verbose?: boolean },
): {
  readonly wantsStream: boolean
  show(event: EngineEvent): void
  warn(message: string): void
  finish(result: RunResult): void
} {
  const style = styleFor(terminal.stderr, terminal.env)
  const say = (line: string): void => void terminal.stderr.write(`${line}\n`)
  return {
    wantsStream: false,
    show(event) {
      if (event.kind === 'notice') say(style.dim(`note: ${printable(event.message)}`))
      if (quiet || event.kind !== 'journal' || !isKnownEvent(event.event)) return
      for (const line of describe(event.event, style, verbose)) say(line)
    },
    warn: (message) => say(style.yellow(printable(message))),
    finish: (result) => conclude(result, terminal, { say, quiet }),
  }
}

function describe(event: JournalEvent, style: Style, verbose: boolean): string[] {
  switch (event.type) {
    case 'ENGINE_START':
      return [
        style.dim(
          `${event.resumed ? 'resuming' : 'run'} ${event.run_id} of ${event.agent_name} in ${event.work_dir}`,
        ),
      ]
    case 'THOUGHT':
      return event.tool_calls.length === 0
        ? []
        : [`${style.dim(`${event.iteration}.`)} ${style.bold(printable(event.content))}`]
    case 'ACTION_REQUEST':
      return [
        style.cyan(
          `   $ ${printable(event.resolved_command ?? `${event.tool_name} (not a command that was run)`)}`,
        ),
      ]
    case 'ACTION_RESULT':
      return [...output(event.observation_content, verbose), style.dim(`     ${outcomeOf(event)}`)]
    case 'HUMAN_INPUT_REQUEST':
      return [style.yellow(`   ? ${printable(event.prompt)}`)]
    case 'ERROR':
      return [style.red(`   ! ${printable(event.error_message)}`)]
    case 'SYSTEM_MESSAGE':
      return [style.dim(`   ${printable(event.content)}`)]
    default:
      return []
  }
}

function output(text: string, verbose: boolean): string[] {
  const lines = printable(text).replace(/\n$/, '').split('\n')
  const shown = verbose ? lines : lines.slice(0, SHOWN_LINES)
  const rest = lines.length - shown.length
  const more = rest > 0 ? [`     … ${rest} more lines`] : []
  return [...shown.map((line) => `     ${line}`), ...more]
}

function outcomeOf(event: Extract<JournalEvent, { type: 'ACTION_RESULT' }>): string {
  const exit = event.exit_code === null ? event.status : `exit ${event.exit_code}`
  return `${exit}, ${event.duration_ms} ms`
}

function conclude(
  result: RunResult,
  terminal: Terminal,
  { say, quiet }: { say: (line: string) => void; quiet: boolean },
): void {
  if (result.answer !== undefined) {
    const safe = terminal.stdout.isTTY ? printable(result.answer) : result.answer
    terminal.stdout.write(`${safe.replace(/\n$/, '')}\n`)
    return
  }
  if (result.question) for (const line of howToAnswer(result)) say(line)
  if (result.status === 'FAILED')
    say(`Error: the run failed: ${printable(result.reason ?? '')}${wayOn(result)}`)
  if (result.status === 'INTERRUPTED' && !quiet)
    say(`Interrupted (${result.reason}). Go on with: delta continue -w ${workspaceOf(result)}`)
}

function wayOn(result: RunResult): string {
  const resume = `delta continue -w ${workspaceOf(result)} -m "…"`
  return result.reason === 'MAX_ITERATIONS'
    ? ` (no answer after ${result.iterations} cycles)\nGo on with: ${resume}`
    : `\nRetry with: ${resume}`
}

function howToAnswer(result: RunResult): string[] {
  const { question } = result
  if (!question) return []
  if (question.command !== undefined) {
    const decide = `delta continue -w ${workspaceOf(result)}`
    return [
      `A command waits for approval (exit code ${EXIT.waiting}):`,
      `  ${printable(question.command)}`,
      `Allow it:  ${decide} --approve ${question.requestId}`,
      `Refuse it: ${decide} --deny ${question.requestId}`,
    ]
  }
  return [
    `The agent asks: ${printable(question.prompt)}`,
    `Agent paused. Provide response in .delta/${result.runId}/interaction/response.txt`,
    `Or use: delta continue -w ${workspaceOf(result)} -m <response>`,
  ]
}

function workspaceOf(result: RunResult): string {
  const workspace = result.runDirectory.replace(/\/\.delta\/[^/]+$/, '')
  return /^[\w@%+=:,./-]+$/.test(workspace) ? workspace : `'${workspace.replaceAll("'", `'\\''`)}'`
}
