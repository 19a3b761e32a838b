import { hostname } from 'node:os'
import { basename, dirname } from 'node:path'
import type { Agent } from '@delta/config-loader'
import type { EngineStart, NewEventOf } from '@delta/journal'
import manifest from '../../package.json' with { type: 'json' }
import { parentRun } from './environment.js'
import type { Allowed, SettingSources } from './options.js'

/** The event with which each engine process begins its part of a run. It holds no secret. */
export function engineStart(about: {
  agent: Agent
  run: { runId: string; directory: string; epoch: number }
  workDirectory: string
  task: string
  maxIterations: number
  resumed: boolean
  retry?: boolean | undefined
  sources?: SettingSources | undefined
  /** Recorded at the first start and, if it is given, at a later one. */
  allowed?: Allowed | undefined
  environment?: NodeJS.ProcessEnv | undefined
}): NewEventOf<EngineStart> {
  const { agent, run, workDirectory, environment = process.env } = about
  const parent = parentRun(environment, workDirectory)
  const { overrides } = agent.snapshot
  const allowed = allowedIn(about)
  const isSaid = about.resumed ? about.allowed !== undefined : Object.keys(allowed).length > 0
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
    ...(about.retry && { retry: true }),
    ...(parent && { parent_run: parent.runId }),
    ...(isSaid && { allowed }),
  }
}

/** With where the runs are kept, if that is outside the workspace. */
function allowedIn({ allowed, run }: Parameters<typeof engineStart>[0]): object {
  const { importRoots = [], trustWorkspaceEnv = false } = allowed ?? {}
  const above = dirname(run.directory)
  return {
    ...(importRoots.length > 0 && { import_roots: importRoots }),
    ...(trustWorkspaceEnv && { trust_workspace_env: true }),
    ...(basename(above) !== '.delta' && { runs_dir: above }),
  }
}

function environmentOf(sources: SettingSources | undefined): object {
  return { origins: sources?.origins ?? [], workspace_endpoint: sources?.workspaceEndpoint ?? '' }
}
