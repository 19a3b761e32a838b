import type { Agent } from '@delta/config-loader'
import type { EngineOptions } from '@delta/engine'
import { findEnvironment } from '../agent/find-environment.js'
import type { AgentFlags, SetFlags } from '../agent/load-agent.js'
import { passedWithoutValue } from '../agent/passed-names.js'
import { isWithinRun } from '../agent/within-run.js'
import type { Place } from '../place.js'
import { askAtTerminal } from '../present/ask.js'
import type { Presenter, PresenterFlags } from '../present/presenter.js'
import type { Terminal } from '../terminal/terminal.js'
import { wholeNumber } from '../usage.js'
import { withOwnCommands } from '../with-own-commands.js'
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
    environment: withOwnCommands(terminal.env),
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
