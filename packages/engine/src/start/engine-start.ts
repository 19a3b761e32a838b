import { hostname } from 'node:os'
import { basename, dirname } from 'node:path'
import type { Agent } from '@delta/config-loader'
import type { EngineStart, NewEventOf } from '@delta/journal'
import manifest from '../../package.json' with { type: 'json' }
import { type Allowed, parentRun, type SettingSources } from '../options.js'

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
    config: { ...agent.snapshot.config, environment: { origins: about.sources?.origins ?? [] } },
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

/** With what a person trusts in the workspace, and where the runs are kept, if that is outside. */
function allowedIn({ allowed, run, sources }: Parameters<typeof engineStart>[0]): object {
  const { importRoots = [] } = allowed ?? {}
  const digest = sources?.workspaceEnvDigest
  const above = dirname(run.directory)
  return {
    ...(importRoots.length > 0 && { import_roots: importRoots }),
    ...(digest !== undefined && { workspace_env_digest: digest }),
    ...(basename(above) !== '.delta' && { runs_dir: above }),
  }
}
