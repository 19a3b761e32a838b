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
  of: 'workspace' | 'agent' | 'project' | 'environment'
  /** A file, or `environment`. */
  from: string
  values: Variables
  /** Of a file. */
  places?: Record<string, EnvPlace>
  /** Of a file's content; '' if there is no file. */
  digest: string
  /** Of the agent and the project: true if the tools of a run can write it whose tool this engine is. */
  isParents?: boolean
}

/** The agent's own setting ranks like a line of the agent's `.env`. */
export const LLM_BASE_URL = 'llm.base_url'
export const ALL_URL_NAMES = [...URL_NAMES, LLM_BASE_URL]

/** Where an `llm.base_url` is from that was set for this run. */
export const SET = '--set'

/** All sources in their order, the workspace's file first; a file that is not there has no values, nor has one the second time. */
export function readSources(options: SourceOptions, findings: Findings): Source[] {
  const { workDirectory, agentHome, environment, llmBaseUrl, overrides = [] } = options
  const { home } = openDirectory(agentHome)
  const root = findProjectRoot(home)

  const seen = new Set<string>()
  const envFile = (of: Source['of'], directory: string): Source => {
    const from = resolve(directory, '.env')
    const file = seen.has(from) ? undefined : readEnvFile(from, findings)
    seen.add(from)
    return { of, from, values: {}, digest: '', ...file }
  }
  const isParents = (directory: string) => liesInParentRun(directory, environment)
  // whoever can write to the agent's directory can write its agent.yaml, so its .env is the agent's there, too
  const isAgents = realPath(workDirectory) === home
  const workspace = isAgents ? [] : [envFile('workspace', workDirectory)]
  const agent = { ...envFile('agent', agentHome), isParents: isParents(home) }
  const ofLlm = { [LLM_BASE_URL]: llmBaseUrl }
  const agents: Source[] = overrides.some((text) => /^llm(\.base_url)?=/.test(text))
    ? [
        agent,
        { of: 'agent', from: SET, values: ofLlm, digest: '', isParents: runsAbove(environment).length > 0 },
      ]
    : [{ ...agent, values: { ...agent.values, ...ofLlm } }]
  return [
    ...workspace,
    ...agents,
    ...(root === undefined ? [] : [{ ...envFile('project', root), isParents: isParents(root) }]),
    { of: 'environment', from: 'environment', values: environment, digest: '' },
  ]
}

/** A setting, and where it stands. */
export interface Found {
  name: string
  value: string
  of: Source['of']
  from: string
  digest: string
  place?: EnvPlace
}

/** The order of the sources comes before that of the names. An empty value is none. */
export function firstOf(sources: readonly Source[], names: readonly string[]): Found | undefined {
  for (const { of, from, digest, values, places = {} } of sources) {
    for (const name of names) {
      const value = values[name]
      if (!value) continue
      if (name === LLM_BASE_URL)
        return { name, value, of, digest, from: from === SET ? SET : join(dirname(from), 'agent.yaml') }
      const place = places[name]
      return { name, value, of, from, digest, ...(place === undefined ? {} : { place }) }
    }
  }
  return undefined
}
