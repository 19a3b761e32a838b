import { commandEnvironment, credentialsOf } from '@delta/executor'
import type { Run } from '@delta/journal'

/** The environment that tools, hooks and generators share: the caller's without credentials, plus the base set. */
export function baseEnvironment(run: Run, agentHome: string, host: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return commandEnvironment(host, {
    agentHome,
    workDirectory: run.workDirectory,
    runId: run.runId,
    runDirectory: run.directory,
    journalPath: run.paths.journal,
  })
}

/**
 * The engine's credentials under the names in which commands may ask for them: those of the environment, and what a
 * `.env` gave. A sub-agent gets them all.
 */
export function credentialVariables(
  host: NodeJS.ProcessEnv,
  credentials: { apiKey?: string; baseUrl?: string } = {},
): Record<string, string> {
  return {
    ...credentialsOf(host),
    ...(credentials.apiKey === undefined ? {} : { DELTA_API_KEY: credentials.apiKey }),
    ...(credentials.baseUrl === undefined ? {} : { DELTA_BASE_URL: credentials.baseUrl }),
  }
}
