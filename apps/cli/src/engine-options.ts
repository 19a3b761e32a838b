import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import type { EngineOptions, RunResult } from '@delta/engine'
import type { AgentFlags, OpenAgent, Place, RunsFlags, SetFlags } from '@delta/workspace'
import { explainSystemError, isWithinRun, passedWithoutValue } from '@delta/workspace/internal'
import { findEnvironment } from './agent.js'
import { askAtTerminal } from './ask.js'
import { withOwnCommands } from './own-commands.js'
import type { Presenter, PresenterFlags } from './presenter.js'
import { pricesIn } from './prices.js'
import { EXIT, SIGNAL_EXIT, stopSignal, type Terminal } from './terminal.js'
import { UsageError, wholeNumber } from './usage.js'

/** Flags that `run` and `continue` share, as the argument parser gives them. */
export interface EngineFlags extends AgentFlags, SetFlags, PresenterFlags, RunsFlags {
  maxIterations?: string
  interactive?: boolean
  sync: boolean
  prices?: string
  trustWorkspaceEnv?: boolean
}

/** What `engineOptions` needs from a command. */
export interface EngineSetting {
  place: Place
  flags: EngineFlags
  terminal: Terminal
  presenter: Presenter
  signal: AbortSignal
}

/** What the engine needs: the agent and its workspace, credentials, listener, limits, the person at the terminal. */
export async function engineOptions(
  opened: OpenAgent,
  { place, flags, terminal, presenter, signal }: EngineSetting,
): Promise<EngineOptions & Place & Pick<OpenAgent, 'agent'>> {
  const { agent } = opened
  const { warn } = presenter
  const found = await findEnvironment(opened, { ...place, terminal, warn, signal })
  for (const warning of passedWithoutValue(agent, { credentials: found, env: terminal.env })) warn(warning)
  return {
    agent,
    ...place,
    credentials: found,
    prices: pricesIn(flags, terminal),
    sources: found,
    env: withOwnCommands(terminal.env),
    sync: flags.sync,
    signal,
    stream: presenter.wantsStream,
    onEvent: (event) => presenter.show(event),
    maxIterations: maxIterationsIn(flags),
    ...(flags.interactive ? { ask: askingWith(presenter, terminal, signal) } : {}),
  }
}

/** @throws {UsageError} It is not a whole number of at least 1. */
export function maxIterationsIn({ maxIterations }: EngineFlags): number | undefined {
  return maxIterations === undefined ? undefined : wholeNumber('--max-iterations', maxIterations)
}

function askingWith(
  presenter: Presenter,
  terminal: Terminal,
  signal: AbortSignal,
): NonNullable<EngineOptions['ask']> {
  return async (question) => {
    if (question.command !== undefined && !isPersonAt(terminal)) return undefined
    presenter.stopLine()
    return askAtTerminal(question, terminal, signal)
  }
}

/** A piped line may come from anybody, such as a program that answers every question with yes. */
function isPersonAt(terminal: Terminal): boolean {
  return terminal.stdin.isTTY === true && !isWithinRun(terminal)
}

/** Runs `work`; a first Ctrl+C (or SIGTERM, SIGHUP) stops it cleanly, and a second one at once. */
export async function withStopSignal<T>(
  terminal: Terminal,
  presenter: Presenter,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  using stop = stopSignal(terminal, {
    onFirst(name) {
      if (isWithinRun(terminal)) return // its caller stops it, and only a model would read this
      presenter.warn(`${name}: stopping; once more to stop at once.`)
    },
    onExit: () => presenter.leaveRun(),
  })
  return await work(stop.signal)
}

/** 0 only for a completed run. */
export function exitCodeFor(result: RunResult): number {
  switch (result.status) {
    case 'COMPLETED':
      return EXIT.completed
    case 'WAITING_FOR_INPUT':
      return EXIT.waiting
    case 'INTERRUPTED':
      return SIGNAL_EXIT[result.reason] ?? EXIT.failed
    case 'FAILED':
      return EXIT.failed
    default:
      return result satisfies never
  }
}

/** A message is sent with every request, and no model takes this much. */
const LONGEST_MEGABYTES = 10
const AS_A_FILE = 'Put it into a file in the workspace, and name that file in the message.'

/**
 * The message of `-m`: the text itself, `-` for all of stdin, `@file` for a file. One final newline is dropped from both.
 * Anything that is not text is refused, never converted.
 */
export async function readMessage(
  value: string | undefined,
  terminal: Terminal,
): Promise<string | undefined> {
  if (value === undefined) return undefined
  const message = await read(value, terminal)
  if (message.trim() === '') throw new UsageError(`The message (-m ${value}) is empty. Write the task there.`)
  return message
}

async function read(value: string, terminal: Terminal): Promise<string> {
  if (value === '-' && terminal.stdin.isTTY)
    terminal.stderr.write('Type the message; it is shown. End it with Ctrl+D on a new line:\n')
  if (value === '-') return toText(await readBytes(terminal.stdin, value), value)
  if (!value.startsWith('@')) return value
  const path = resolve(terminal.cwd, value.slice(1))
  try {
    return toText(await readBytes(createReadStream(path), value), value)
  } catch (cause) {
    if (cause instanceof UsageError) throw cause
    const why = explainSystemError(cause, TEXT_FROM_STDIN) ?? (cause as Error).message
    throw new UsageError(`-m ${value}: ${why}`, { cause })
  }
}

const TEXT_FROM_STDIN =
  'After @, -m takes the path of a file with the message. To send a text that begins with @, use -m - and give it on stdin.'

async function readBytes(stream: Readable, value: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > LONGEST_MEGABYTES * 1024 * 1024)
      throw new UsageError(`-m ${value}: it is longer than ${LONGEST_MEGABYTES} MB.\n${AS_A_FILE}`)
  }
  return Buffer.concat(chunks)
}

function toText(bytes: Buffer, value: string): string {
  if (!isUtf8(bytes))
    throw new UsageError(
      `-m ${value}: it is not UTF-8 text. Convert it first, for example with: iconv -f ISO-8859-1 -t UTF-8`,
    )
  if (bytes.includes(0))
    throw new UsageError(`-m ${value}: it contains a NUL byte, so it is not text.\n${AS_A_FILE}`)
  return bytes.toString('utf8').replace(/^\ufeff|\r?\n$/g, '')
}
