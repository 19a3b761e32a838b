import { commandEnvironment, type Tool } from '@delta/executor'
import type { Run } from '@delta/journal'
import type { ActiveRun } from './active-run.js'

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

/** The environment of one tool call. A sub-agent (`delta …`) gets the effective credentials, and learns who its parent is. */
export function commandEnvironmentFor(run: ActiveRun, tool: Tool, actionId: string): NodeJS.ProcessEnv {
  const isDelta = tool.expanded.command[0] === 'delta'
  return {
    ...(isDelta ? { ...run.hostEnvironment, ...run.environment, DELTA_PARENT_RUN: run.run.directory } : run.environment),
    DELTA_ACTION_ID: actionId,
  }
}
