import { basename } from 'node:path'
import type { EngineEvent, Question, RunResult } from '@delta/engine'
import type { JournalEvent } from '@delta/journal/runs'
import { commandToContinue, placeOfRun } from '@delta/workspace/internal'
import { engineLog } from './engine-log.js'
import { liveLine } from './live-line.js'
import { endOf } from './next-command.js'
import { after, type Before, changeOfModel, renderer, styleFor } from './render.js'
import type { Terminal } from './terminal.js'
import { print, printAnswer, printable } from './text.js'

/** Turns what the engine says into output: results on stdout, everything else on stderr. The run's `engine.log` keeps the latter. */
export interface Presenter {
  /** True to receive the model's words as they are streamed. */
  readonly wantsStream: boolean
  /** The run has a directory: its log is kept there. */
  begin(runDirectory: string): void
  show(event: EngineEvent): void
  warn(message: string): void
  /**
   * @param options.more - Further fields of the result as JSON.
   * @param options.isForReading - The run cannot go on, or is removed.
   */
  finish(result: RunResult, options?: { more?: object; isForReading?: boolean }): void
  /** Ends the moving line, because somebody else is about to print a question. */
  stopLine(): void
  /** Says how to continue a run that is left without an end, if it has begun. */
  leaveRun(): void
}

export interface PresenterFlags {
  format: 'text' | 'json' | 'stream-json' | 'raw'
  quiet?: boolean
  verbose?: boolean
}

/**
 * Progress goes to stderr line by line: each thought, each command as it would be typed, its result. On a terminal the last line
 * moves. With `stream-json`, stdout gets each journal line instead.
 */
export function presenterFor(flags: PresenterFlags, terminal: Terminal): Presenter {
  const { format, verbose = false } = flags
  const { stdout, stderr, env } = terminal
  // a sub-agent's stderr is read by its parent's model, which needs the result and not every step
  const quiet = flags.quiet || (env.DELTA_PARENT_RUN !== undefined && !verbose)
  const isJsonLines = format === 'stream-json'
  const moves = stderr.isTTY === true && env.TERM !== 'dumb' && !quiet && !isJsonLines
  const style = styleFor(stderr, env)
  const line = moves ? liveLine(stderr, style) : undefined
  const render = renderer({ style, verbose, tokens: verbose || moves, columns: stderr.columns })
  const log = engineLog(warn)
  const warned = new Set<string>()
  let begun: string | undefined
  let streamedAnswer: string | undefined
  /** For a thought that has streamed. */
  let before: Before = { isApprovalOpen: false }

  function say(text: string): void {
    line?.leave()
    stderr.write(`${text}\n`)
  }

  function warn(message: string): void {
    warned.add(message)
    line?.leave()
    if (moves) stderr.write('\r') // the message hides the ^C that the terminal shows for Ctrl+C
    const shown = printable(message)
    say(style('yellow', shown))
    log.write([shown])
  }

  function stopLine(): void {
    line?.wait(undefined)
    line?.leave()
  }

  function showLines(lines: readonly string[], stored: JournalEvent | undefined): void {
    if (quiet && stored !== undefined) return
    if (stored?.type === 'THOUGHT' && line?.end(stored, verbose ? before.at : undefined)) {
      if (verbose) for (const each of changeOfModel(stored, { style, model: before.model })) say(each)
      if (stored.tool_calls.length === 0) streamedAnswer = stored.content
    } else for (const each of lines) say(each)
  }

  return {
    wantsStream: moves,
    begin(runDirectory) {
      begun = runDirectory
      log.openIn(runDirectory)
    },
    show(event) {
      if (event.kind === 'delta') return line?.say(event.content, event.iteration)
      if (event.kind === 'reasoning')
        return verbose ? line?.reason(event.content, event.iteration) : undefined
      const stored = storedIn(event)
      const lines = render(event)
      log.write(lines, stored?.timestamp)
      if (isJsonLines && event.kind === 'journal') return print(terminal, `${JSON.stringify(event.event)}\n`)
      showLines(lines, stored)
      if (stored) before = after(stored, before)
      if (stored && stored.type !== 'HOOK_EXECUTION_AUDIT') line?.wait(waitAfter(stored))
    },
    warn,
    finish(result, { more, isForReading = false } = {}) {
      stopLine()
      const end = endOf(result, { quiet, columns: stderr.columns, isForReading })
      log.write(end)
      if (isJsonLines) return // its ENGINE_END has said it
      const isSeen = stdout.isTTY === true && result.answer === streamedAnswer
      printResult(result, { format, warned, isSeen, more }, terminal)
      for (const each of end) say(each)
    },
    stopLine,
    leaveRun() {
      if (begun !== undefined)
        warn(`Stopped at once. Go on with: ${commandToContinue(placeOfRun(begun), basename(begun))}`)
    },
  }
}

function storedIn(event: EngineEvent): JournalEvent | undefined {
  return event.kind === 'journal' || event.kind === 'open' ? event.event : undefined
}

/** What the run waits for after an event; undefined for nothing, or for a person. */
function waitAfter(event: JournalEvent): string | undefined {
  switch (event.type) {
    case 'ENGINE_START':
    case 'USER_MESSAGE':
    case 'ACTION_RESULT':
      return 'thinking'
    case 'ACTION_REQUEST':
      return event.resolved_command ? event.tool_name : undefined
    case 'ERROR':
      return event.recoverable ? 'waiting to try again' : undefined
    default:
      return undefined
  }
}

interface Printing {
  format: PresenterFlags['format']
  warned: ReadonlySet<string>
  /** The answer is on the screen already. */
  isSeen: boolean
  more: object | undefined
}

function printResult(
  result: RunResult,
  { format, warned, isSeen, more }: Printing,
  terminal: Terminal,
): void {
  if (format === 'json') print(terminal, `${JSON.stringify({ ...resultObject(result, warned), ...more })}\n`)
  else if (format === 'raw') print(terminal, result.answer ?? '')
  else if (result.status === 'COMPLETED' && !isSeen) printAnswer(terminal, result.answer)
}

function resultObject(result: RunResult, warned: ReadonlySet<string>): object {
  return {
    run_id: result.runId,
    run_directory: result.runDirectory,
    status: result.status,
    answer: result.answer ?? null,
    partial_answer: result.partialAnswer ?? null,
    reason: result.reason ?? null,
    reason_code: result.reasonCode,
    question: result.question ? questionObject(result.question) : null,
    iterations: result.iterations,
    usage: result.usage,
    totals: result.totals,
    resumed: result.resumed,
    changed_files: result.changedFiles,
    warnings: [...new Set([...warned, ...result.warnings])],
  }
}

/** A question with the field names of the journal. */
function questionObject({ requestId, inputType, prompt, ...rest }: Question): object {
  return { request_id: requestId, prompt, input_type: inputType, ...rest }
}
