import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { nearestNames } from '@delta/executor/internal'
import { openDirectory, readText, realPath } from './files.js'
import { liesInParentRun, runsAbove } from './guards.js'
import type { ConfigProblem, Findings } from './problems.js'

/** Names under which each setting may be given; within one file the first one counts. */
export const KEY_NAMES = ['DELTA_API_KEY', 'OPENAI_API_KEY'] as const
export const URL_NAMES = ['DELTA_BASE_URL', 'OPENAI_BASE_URL', 'OPENAI_API_URL'] as const

export type Variables = Record<string, string | undefined>

export interface EnvFile {
  values: Variables
  /** Where each name is set; of several places the last, which is the one that counts. */
  places: Record<string, EnvPlace>
  /** Of the whole content. */
  digest: string
}

/** Without the line's text, which may hold a key. */
export type EnvPlace = Required<Pick<ConfigProblem, 'file' | 'line' | 'column'>>

const OUR_NAMES: readonly string[] = [...KEY_NAMES, ...URL_NAMES]

/** What other tools, and older versions of them, call these settings. */
const OTHER_NAMES: Record<string, string> = {
  OPENAI_API_BASE: 'OPENAI_BASE_URL',
  DELTA_API_BASE: 'DELTA_BASE_URL',
  DELTA_API_URL: 'DELTA_BASE_URL',
}

/** Reads an `.env` file. Undefined if there is none. */
function readEnvFile(path: string, findings: Findings): EnvFile | undefined {
  const read = readText(path)
  if (read.ok) {
    const digest = createHash('sha256').update(read.text).digest('hex')
    return { values: parseEnv(read.text), places: findNames(read.text, path, findings), digest }
  }
  if (read.reason === 'missing') return undefined
  if (read.reason !== 'directory') findings.error({ file: path }, `${read.message}.`)
  // Virtual environments of Python are sometimes called so; that is no mistake to stop for.
  else findings.warn({ file: path }, 'is a directory, not a file; no settings are read from it.')
  return undefined
}

/** Where the names stand; says what would go unnoticed, for whatever such files hold else has no effect. */
function findNames(text: string, file: string, findings: Findings): Record<string, EnvPlace> {
  const places: Record<string, EnvPlace> = {}
  for (const [index, line] of text.split('\n').entries()) {
    const [, before = '', name = ''] = /^(\s*(?:export\s+)?)([A-Za-z_]+)/.exec(line) ?? []
    const place = { file, line: index + 1, column: before.length + 1 }
    if (line.includes('=')) places[name] = place
    if (!line.includes('=') || OUR_NAMES.includes(name)) continue
    const meant = Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : nearestNames(name, OUR_NAMES, 2)[0]
    if (meant !== undefined) findings.warn(place, `${name} has no effect.`, `Did you mean ${meant}?`)
  }
  return places
}

/** The directory with `.git` at or above another one. */
function findProjectRoot(start: string): string | undefined {
  for (let directory = resolve(start); ; directory = dirname(directory)) {
    if (existsSync(join(directory, '.git'))) return directory
    if (directory === dirname(directory)) return undefined
  }
}

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
