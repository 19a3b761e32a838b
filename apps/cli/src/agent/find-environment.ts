import { type Agent, type Environment, loadEnvironment } from '@delta/config-loader'
import {
  type EngineStart,
  isJournalError,
  isKnownEvent,
  journalPath,
  latestRunId,
  runDirectory,
  streamJournal,
} from '@delta/journal'
import type { Terminal } from '../terminal/terminal.js'

/** The key and the address of the model's API, as a run of this agent in this workspace would find them. */
export async function findEnvironment(
  agent: Agent,
  {
    workDirectory,
    flags,
    terminal,
  }: { workDirectory: string; flags: { trustWorkspaceEnv?: boolean }; terminal: Terminal },
): Promise<Environment> {
  return loadEnvironment({
    workDirectory,
    agentHome: agent.home,
    environment: terminal.env,
    ...(agent.llm.baseUrl === undefined ? {} : { llmBaseUrl: agent.llm.baseUrl }),
    overrides: agent.snapshot.overrides,
    trustWorkspaceEnv: flags.trustWorkspaceEnv ?? false,
    ...(await knownEndpoint(workDirectory)),
  })
}

/**
 * The endpoint settings in the workspace's `.env` when its latest run was first started. If that is no longer known, it is
 * taken to have had none, so the present settings are refused until a person trusts them.
 */
async function knownEndpoint(workDirectory: string): Promise<{ knownWorkspaceEndpoint?: string }> {
  const id = await latestRunId(workDirectory)
  if (id === undefined) return {}
  const start = await firstStart(journalPath(runDirectory(workDirectory, id)))
  if (start === undefined) return { knownWorkspaceEndpoint: '' }
  const { environment } = Object(start.config) as { environment?: { workspace_endpoint?: string } }
  const known = environment?.workspace_endpoint // an old run has none
  return known === undefined ? {} : { knownWorkspaceEndpoint: known }
}

async function firstStart(journal: string): Promise<EngineStart | undefined> {
  try {
    for await (const event of streamJournal(journal))
      if (isKnownEvent(event) && event.type === 'ENGINE_START') return event
    return undefined
  } catch (error) {
    if (isJournalError(error)) return undefined // a damaged run must not prevent others from starting
    throw error
  }
}
