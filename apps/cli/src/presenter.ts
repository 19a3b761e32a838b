import { constants, openSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { EngineEvent, Question, RunResult } from '@delta/engine'
import type { JournalEvent, Thought } from '@delta/journal/runs'
import { commandToContinue, placeOfRun } from '@delta/workspace'
import { endOf } from './next-command.js'
import { PLAIN, renderer, type Style, styleFor, tokensOf } from './render.js'
import type { Terminal } from './terminal.js'
import { duration, inColumns, print, printAnswer, printable } from './text.js'

/** Turns what the engine says into output: results on stdout, everything else on stderr, and in the run's `engine.log`. */
export interface Presenter {
  /** True to receive the model's words as they are streamed. */
  readonly wantsStream: boolean
  /** To be called when the run has a directory: its log is kept there. */
  begin(runDirectory: string): void
  show(event: EngineEvent): void
  warn(message: string): void
  finish(result: RunResult): void
  /** Ends the moving line, because somebody else is about to print a question. */
  stopLine(): void
  /** For a run that is left without an end: says how to continue it, if it has begun. */
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

  function say(text: string): void {
    line?.leave()
    stderr.write(`${text}\n`)
  }

  function warn(message: string): void {
    warned.add(message)
    line?.leave()
    if (moves) stderr.write('\r') // the message hides the ^C that the terminal shows for Ctrl+C
    say(style('yellow', printable(message)))
    log.write(message.split('\n'))
  }

  function stopLine(): void {
    line?.wait(undefined)
    line?.leave()
  }

  function showLines(event: EngineEvent, stored: JournalEvent | undefined): void {
    if (quiet && event.kind !== 'notice') return
    if (stored?.type === 'THOUGHT' && line?.end(stored)) {
      if (stored.tool_calls.length === 0) streamedAnswer = stored.content
    } else for (const each of render(event)) say(each)
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
      log.show(event)
      if (isJsonLines && event.kind === 'journal') return print(terminal, `${JSON.stringify(event.event)}\n`)
      showLines(event, stored)
      if (stored && stored.type !== 'HOOK_EXECUTION_AUDIT') line?.wait(waitAfter(stored))
    },
    warn,
    finish(result) {
      stopLine()
      if (isJsonLines) return // its ENGINE_END has said it
      const isSeen = stdout.isTTY === true && result.answer === streamedAnswer
      if (format === 'json') print(terminal, `${JSON.stringify(resultObject(result, warned))}\n`)
      else if (format === 'raw') print(terminal, result.answer ?? '')
      else if (result.status === 'COMPLETED' && !isSeen) printAnswer(terminal, result.answer)
      for (const each of endOf(result, { quiet, columns: stderr.columns })) say(each)
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

const { O_APPEND, O_CREAT, O_NONBLOCK, O_WRONLY } = constants

/**
 * Appends what `-v` prints to `engine.log` of the run's directory: one timestamped line each, without colours. It is never synced
 * and never read by us: the journal is the record, so a log that cannot be written stops nothing. Journal events hold no secrets.
 */
function engineLog(complain: (message: string) => void) {
  const render = renderer({ style: PLAIN, verbose: true, transcript: true })
  let path: string | undefined
  let file: number | undefined
  let waiting: string | undefined = '' // until the run has a directory; undefined once writing has failed

  function write(lines: readonly string[], timestamp = new Date().toISOString()): void {
    if (waiting === undefined) return
    waiting += lines.map((line) => `${timestamp} ${line}\n`).join('')
    if (path === undefined || waiting === '') return
    try {
      file ??= openSync(path, O_APPEND | O_CREAT | O_WRONLY | O_NONBLOCK, 0o600) // opening a pipe would block the run
      writeFileSync(file, waiting)
      waiting = ''
    } catch (error) {
      waiting = undefined
      complain(`engine.log is not written: ${(error as Error).message}`)
    }
  }

  return {
    write,
    openIn(directory: string): void {
      path = join(directory, 'engine.log')
    },
    show: (event: EngineEvent): void => write(render(event), storedIn(event)?.timestamp),
  }
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
    resumed: result.resumed,
    changed_files: result.changedFiles,
    warnings: [...new Set([...warned, ...result.warnings])],
  }
}

/** As the journal names it. */
function questionObject({ requestId, inputType, prompt, ...rest }: Question): object {
  return { request_id: requestId, prompt, input_type: inputType, ...rest }
}

const ERASE_LINE = '\r\u001b[K'

/** The last line of a terminal, which moves while the run does: what is waited for, or the words of the model as they stream. */
function liveLine(stream: NodeJS.WriteStream, style: Style) {
  let timer: NodeJS.Timeout | undefined
  let isWaiting = false
  let said = ''
  let hasReasoned = false

  /** Makes room for a line of something else. */
  function leave(): void {
    if (isWaiting) stream.write(ERASE_LINE)
    if (said !== '' || hasReasoned) stream.write('\n')
    isWaiting = false
    hasReasoned = false
    said = ''
  }

  function beginThought(iteration: number): void {
    clearInterval(timer)
    leave()
    stream.write(`${style('dim', `${iteration}.`)} `)
  }

  return {
    leave,
    /** Shows what is waited for and for how long, from the next second on; undefined: nothing. */
    wait(label: string | undefined): void {
      clearInterval(timer)
      if (label === undefined) return
      const began = performance.now()
      timer = setInterval(() => {
        isWaiting = true
        const time = ` … ${duration(1000 * Math.floor((performance.now() - began) / 1000))}`
        // the last column stays free: a line that fills it moves on to the next
        const room = Math.max(1, (stream.columns || 80) - time.length - 1)
        stream.write(`${ERASE_LINE}${style('dim', inColumns(printable(label), room) + time)}`)
      }, 1000)
      timer.unref()
    },
    /** Appends to what the model reasons before the words of this iteration. */
    reason(words: string, iteration: number): void {
      if (!hasReasoned) beginThought(iteration)
      stream.write(style('dim', `${hasReasoned ? '' : '∴ '}${printable(words).replaceAll('\n', '\n     ')}`))
      hasReasoned = true
    },
    /** Appends words to the thought of this iteration. */
    say(words: string, iteration: number): void {
      if (said === '' && hasReasoned) stream.write('\n   ')
      else if (said === '') beginThought(iteration)
      said += words
      stream.write(style('bold', printable(words).replaceAll('\n', '\n   ')))
    },
    /** Ends the thought. False if it must still be printed: it was not streamed to its end, or a hook has changed it. */
    end(thought: Thought): boolean {
      const isSaid = (said !== '' || hasReasoned) && said === thought.content
      if (isSaid) stream.write(style('dim', tokensOf(thought)))
      leave()
      return isSaid
    },
  }
}
