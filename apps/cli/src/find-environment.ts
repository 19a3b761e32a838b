import { join } from 'node:path'
import { type Agent, type Environment, loadEnvironment } from '@delta/config-loader'
import { isKnownEvent, latestRunId, runDirectory, streamJournal } from '@delta/journal'
import type { Terminal } from './terminal.js'

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
    trustWorkspaceEnv: flags.trustWorkspaceEnv ?? false,
    ...(await knownEndpoint(workDirectory)),
  })
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
