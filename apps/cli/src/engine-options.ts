import { join } from 'node:path'
import { type Agent, loadAgent, loadEnvironment } from '@delta/config-loader'
import type { EngineOptions } from '@delta/engine'
import { isKnownEvent, latestRunId, runDirectory, streamJournal } from '@delta/journal'
import { askAtTerminal } from './ask.js'
import { importRoots } from './import-roots.js'
import type { Presenter } from './present/presenter.js'
import type { Terminal } from './terminal.js'
import { UsageError } from './usage-error.js'

/** Flags that `run` and `continue` share, as the argument parser gives them. */
export interface EngineFlags {
  maxIterations?: string
  interactive?: boolean
  format: 'text' | 'json' | 'stream-json' | 'raw'
  quiet?: boolean
  verbose?: boolean
  sync: boolean
  importRoot: string[]
  strict?: boolean
  trustWorkspaceEnv?: boolean
}

/** Loads an agent as these flags and this environment say; its warnings go to the presenter. */
export async function loadAgentFor(
  directory: string,
  { flags, terminal, presenter }: { flags: EngineFlags; terminal: Terminal; presenter: Presenter },
): Promise<Agent> {
  const { agent, warnings } = await loadAgent(directory, {
    environment: terminal.env,
    importRoots: importRoots(flags, terminal),
    strict: flags.strict ?? false,
  })
  for (const warning of warnings) presenter.warn(warning.message)
  return agent
}

/** What the engine needs besides the agent: credentials, listener, limits, the person at the terminal. */
export async function engineOptions(
  agent: Agent,
  {
    workDirectory,
    flags,
    terminal,
    presenter,
    signal,
  }: {
    workDirectory: string
    flags: EngineFlags
    terminal: Terminal
    presenter: Presenter
    signal: AbortSignal
  },
): Promise<EngineOptions> {
  const found = await loadEnvironment({
    workDirectory,
    agentHome: agent.home,
    environment: terminal.env,
    trustWorkspaceEnv: flags.trustWorkspaceEnv ?? false,
    ...(await knownEndpoint(workDirectory)),
  })
  for (const warning of found.warnings) presenter.warn(warning.message)
  return {
    credentials: found,
    sources: found,
    environment: terminal.env,
    sync: flags.sync,
    signal,
    stream: presenter.wantsStream,
    onEvent: (event) => presenter.show(event),
    ...(flags.maxIterations === undefined ? {} : { maxIterations: positiveInteger(flags.maxIterations) }),
    ...(flags.interactive ? { ask: askingWith(presenter, terminal) } : {}),
  }
}

function askingWith(presenter: Presenter, terminal: Terminal): NonNullable<EngineOptions['ask']> {
  return (question) => {
    presenter.pause()
    return askAtTerminal(question, terminal)
  }
}

function positiveInteger(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new UsageError(`--max-iterations ${text}: give a whole number from 1 on.`)
}

/** The endpoint settings that the workspace's `.env` had when its latest run was first started. */
async function knownEndpoint(workDirectory: string): Promise<{ knownWorkspaceEndpoint?: string }> {
  const id = await latestRunId(workDirectory)
  if (id === undefined) return {}
  for await (const event of streamJournal(join(runDirectory(workDirectory, id), 'journal.jsonl'))) {
    if (!isKnownEvent(event) || event.type !== 'ENGINE_START') continue
    const { environment } = Object(event.config) as { environment?: { workspace_endpoint?: string } }
    return environment?.workspace_endpoint === undefined
      ? {}
      : { knownWorkspaceEndpoint: environment.workspace_endpoint }
  }
  return {}
}
