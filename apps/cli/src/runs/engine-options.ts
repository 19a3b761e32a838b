import type { Agent } from '@delta/config-loader'
import type { EngineOptions, RunResult } from '@delta/engine'
import { findEnvironment, passedWithoutValue } from '../agent/find-environment.js'
import type { AgentFlags, SetFlags } from '../agent/load-agent.js'
import { withOwnCommands } from '../own-commands.js'
import type { Place } from '../place.js'
import { askAtTerminal } from '../present/ask.js'
import type { Presenter, PresenterFlags } from '../present/presenter.js'
import {
  EXIT,
  isWithinRun,
  SIGNAL_EXIT,
  StoppedError,
  stopSignal,
  type Terminal,
} from '../terminal/terminal.js'
import { wholeNumber } from '../usage.js'
import type { RunsFlags } from '../workspace/find-place.js'

/** Flags that `run` and `continue` share, as the argument parser gives them. */
export interface EngineFlags extends AgentFlags, SetFlags, PresenterFlags, RunsFlags {
  maxIterations?: string
  interactive?: boolean
  sync: boolean
  /** A digest trusts the file with this content. */
  trustWorkspaceEnv?: boolean | string
}

/** What `engineOptions` needs from a command. */
export interface EngineSetting {
  place: Place
  flags: EngineFlags
  terminal: Terminal
  presenter: Presenter
  signal: AbortSignal
}

/** What the engine needs besides the agent: credentials, listener, limits, the person at the terminal. */
export async function engineOptions(
  agent: Agent,
  { place, flags, terminal, presenter, signal }: EngineSetting,
): Promise<EngineOptions> {
  const { warn } = presenter
  const found = await findEnvironment(agent, { ...place, flags, terminal, warn, signal })
  for (const warning of passedWithoutValue(agent, { ...found, environment: terminal.env })) warn(warning)
  return {
    credentials: found,
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
  try {
    return await work(stop.signal)
  } catch (error) {
    throw stop.signal.aborted && isBusy(error)
      ? new StoppedError(stop.signal, error, 'The run was not taken, and nothing was changed.')
      : error
  }
}

/** The signal ended the wait for the run's owner, so all that is known is that there is one. */
function isBusy(error: unknown): boolean {
  return Object(error).code === 'ERR_RUN_BUSY'
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
