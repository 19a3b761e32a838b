import { dirname, join, resolve } from 'node:path'
import { openDirectory } from '../files/directory.js'
import { realPath } from '../files/real-path.js'
import type { Findings } from '../findings.js'
import { liesInParentRun, runsAbove } from '../parts/nested.js'
import { type EnvPlace, findProjectRoot, readEnvFile, URL_NAMES, type Variables } from './env-file.js'

/** See `EnvironmentOptions`. */
interface SourceOptions {
  workDirectory: string
  agentHome: string
  environment: NodeJS.ProcessEnv
  llmBaseUrl?: string | undefined
  overrides?: readonly string[] | undefined
}

/** A place where the settings of the model's API may be written. */
export interface Source {
  /** A file, or `environment`. */
  from: string
  values: Variables
  /** Of a file. */
  places?: Record<string, EnvPlace>
  /** Whose tools can write it: those of the run itself alone, or also of a run whose tool this engine is. */
  writers?: 'own' | 'parent' | undefined
}

/** The agent's own setting ranks like a line of the agent's `.env`. */
export const LLM_BASE_URL = 'llm.base_url'
export const ALL_URL_NAMES = [...URL_NAMES, LLM_BASE_URL]

/** Where an `llm.base_url` is from that was set for this run. */
export const SET = '--set'

/** All sources in their order, the workspace's file first; a file that is not there has no values. */
export function readSources(options: SourceOptions, findings: Findings): Source[] {
  const { workDirectory, agentHome, environment, llmBaseUrl, overrides = [] } = options
  const { home } = openDirectory(agentHome)
  const root = findProjectRoot(home)
  const writersOf = (directory: string) => (liesInParentRun(directory, environment) ? 'parent' : undefined)

  const seen = new Set<string>()
  const envFile = (directory: string, writers: Source['writers']): Source => {
    const from = resolve(directory, '.env')
    const file = seen.has(from) ? undefined : readEnvFile(from, findings)
    seen.add(from)
    return { from, values: file?.values ?? {}, places: file?.places ?? {}, writers }
  }
  const workspace = envFile(workDirectory, writersOf(realPath(workDirectory) ?? workDirectory) ?? 'own')
  const agent = envFile(agentHome, writersOf(home))
  const ofLlm = { [LLM_BASE_URL]: llmBaseUrl }
  const agents: Source[] = overrides.some((text) => /^llm(\.base_url)?=/.test(text))
    ? [agent, { from: SET, values: ofLlm, writers: runsAbove(environment).length > 0 ? 'parent' : undefined }]
    : [{ ...agent, values: { ...agent.values, ...ofLlm } }]
  return [
    workspace,
    ...agents,
    ...(root === undefined ? [] : [envFile(root, writersOf(root))]),
    { from: 'environment', values: environment },
  ]
}

/** A setting, and where it stands. */
export interface Found {
  name: string
  value: string
  from: string
  place?: EnvPlace
}

/** The order of the sources comes before that of the names. An empty value is none. */
export function firstOf(sources: readonly Source[], names: readonly string[]): Found | undefined {
  for (const { from, values, places = {} } of sources) {
    for (const name of names) {
      const value = values[name]
      if (!value) continue
      if (name === LLM_BASE_URL)
        return { name, value, from: from === SET ? SET : join(dirname(from), 'agent.yaml') }
      const place = places[name]
      return { name, value, from, ...(place === undefined ? {} : { place }) }
    }
  }
  return undefined
}
