import { hostname } from 'node:os'
import { basename } from 'node:path'
import type { Agent } from '@delta/config-loader'
import type { EngineStart, NewEventOf } from '@delta/journal'
import manifest from '../../package.json' with { type: 'json' }
import { parentRun } from './environment.js'
import type { SettingSources } from './options.js'

/** The event with which each engine process begins its part of a run. It holds no secret. */
export function engineStart(about: {
  agent: Agent
  run: { runId: string; epoch: number }
  workDirectory: string
  task: string
  maxIterations: number
  resumed: boolean
  sources?: SettingSources | undefined
  environment?: NodeJS.ProcessEnv | undefined
}): NewEventOf<EngineStart> {
  const { agent, run, workDirectory, environment = process.env } = about
  const parent = parentRun(environment, workDirectory)
  const { overrides } = agent.snapshot
  return {
    type: 'ENGINE_START',
    run_id: run.runId,
    agent_name: agent.name,
    agent_home: agent.home,
    work_dir: workDirectory,
    workspace_id: basename(workDirectory),
    task: about.task,
    max_iterations: about.maxIterations,
    config: { ...agent.snapshot.config, environment: environmentOf(about.sources) },
    engine: {
      version: manifest.version,
      node: process.version,
      pid: process.pid,
      hostname: hostname(),
      epoch: run.epoch,
    },
    resumed: about.resumed,
    ...(overrides.length > 0 && { overrides }),
    ...(parent && { parent_run: parent.runId }),
  }
}

function environmentOf(sources: SettingSources | undefined): object {
  return { origins: sources?.origins ?? [], workspace_endpoint: sources?.workspaceEndpoint ?? '' }
}
