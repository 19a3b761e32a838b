import { createHash } from 'node:crypto'
import { dirname, join, resolve } from 'node:path'
import { openDirectory } from './directory.js'
import {
  type EnvPlace,
  findProjectRoot,
  KEY_NAMES,
  readEnvFile,
  URL_NAMES,
  type Variables,
} from './env-file.js'
import { ConfigError, type ConfigWarning } from './errors.js'
import { collectFindings, type Finding, type Findings } from './findings.js'
import { formatReport } from './format.js'
import { isLoopback } from './loopback.js'
import { liesInParentRun } from './nested.js'

export interface EnvironmentOptions {
  workDirectory: string
  agentHome: string
  /** The real environment, usually `process.env`. */
  environment: NodeJS.ProcessEnv
  /** `llm.base_url` of the agent; counts like a line of the agent's `.env`, and after it. */
  llmBaseUrl?: string
  /**
   * What `workspaceEndpoint` was when this run was first started, or in the workspace's previous run; '' if there
   * were no such settings then. Undefined for a workspace that was never used.
   */
  knownWorkspaceEndpoint?: string
  /** Accept the workspace's settings whatever they are (`--trust-workspace-env`). */
  trustWorkspaceEnv?: boolean
}

export interface Environment {
  apiKey?: string
  baseUrl?: string
  /** Which name of which file (or `environment`) each value came from. Never the values. */
  origins: { name: string; from: string }[]
  /** A fingerprint of the endpoint settings in the workspace's `.env`; '' if it has none. To be kept with the run. */
  workspaceEndpoint: string
  warnings: ConfigWarning[]
}

interface Source {
  /** A file, or `environment`. */
  from: string
  values: Variables
  /** Of a file. */
  places?: Record<string, EnvPlace>
  /** True if the tools of a run can write it. */
  writable: boolean
}

/** The agent's own setting ranks like a line of the agent's `.env`. */
const LLM_BASE_URL = 'llm.base_url'
const ALL_URL_NAMES = [...URL_NAMES, LLM_BASE_URL]

/**
 * Finds the key and the address of the model's API.
 *
 * The order: `.env` of the work directory, of the agent, `llm.base_url`, `.env` of the project root (the directory
 * with `.git` above the agent), then the real environment. Nothing else in these files has any effect.
 *
 * Tools can write the first of these files, and the second one if the agent lies in another run's workspace.
 * Therefore a base URL from there counts only if it is a loopback address or its key is in the same file; and the
 * workspace's settings count only if they are those of the first start.
 *
 * @throws {ConfigError} `ERR_CONFIG_ENVIRONMENT`: such a setting was refused, or an `.env` cannot be read.
 *   `ERR_CONFIG_NOT_FOUND`: there is no such agent's directory.
 */
export async function loadEnvironment(options: EnvironmentOptions): Promise<Environment> {
  const findings = collectFindings()
  const sources = readSources(options, findings)
  const [workspace] = sources
  const workspaceEndpoint = workspace === undefined ? '' : fingerprint(workspace)
  const url = firstOf(sources, ALL_URL_NAMES)
  if (url !== undefined) checkUrl(url, findings)
  if (workspace !== undefined && findings.problems.length === 0 && !options.trustWorkspaceEnv) {
    checkUnchanged(workspace, workspaceEndpoint, options.knownWorkspaceEndpoint, findings)
    for (const source of sources) if (source.writable) checkKeyStaysHome(source, findings)
  }
  const { problems, warnings } = findings
  if (problems.length > 0) {
    throw new ConfigError('ERR_CONFIG_ENVIRONMENT', formatReport(problems), { problems, warnings })
  }

  const key = firstOf(sources, KEY_NAMES)
  return {
    ...(key && { apiKey: key.value }),
    ...(url && { baseUrl: url.value }),
    origins: [key, url].flatMap((found) => (found ? [{ name: found.name, from: found.from }] : [])),
    workspaceEndpoint,
    warnings,
  }
}

/** All sources in their order, the workspace's file first; a file that is not there has no values. */
function readSources(options: EnvironmentOptions, findings: Findings): Source[] {
  const { workDirectory, agentHome, environment, llmBaseUrl } = options
  const { home } = openDirectory(agentHome)
  const nested = liesInParentRun(home, environment)
  const root = findProjectRoot(home)

  const seen = new Set<string>()
  const envFile = (directory: string, writable: boolean): Source => {
    const from = resolve(directory, '.env')
    const file = seen.has(from) ? undefined : readEnvFile(from, findings)
    seen.add(from)
    return { from, values: file?.values ?? {}, places: file?.places ?? {}, writable }
  }
  const workspace = envFile(workDirectory, true)
  const agent = envFile(agentHome, nested)
  return [
    workspace,
    { ...agent, values: { ...agent.values, [LLM_BASE_URL]: llmBaseUrl } },
    ...(root === undefined ? [] : [envFile(root, false)]),
    { from: 'environment', values: environment, writable: false },
  ]
}

/** Said before everything else about an address: what is none cannot be judged. Its text is not shown, it may be a key. */
function checkUrl(url: Found, findings: Findings): void {
  if (url.name === LLM_BASE_URL) return // checked with the rest of agent.yaml
  const { protocol, username, password } = URL.canParse(url.value) ? new URL(url.value) : NO_URL
  if (!/^https?:$/.test(protocol)) {
    const message = `${url.name} is not an http or https URL.`
    findings.error(placeOf(url), message, `For example ${url.name}=http://localhost:11434/v1`)
  } else if (username !== '' || password !== '') {
    const message = `${url.name} holds credentials.`
    findings.error(placeOf(url), message, `Take them out of the URL; a key is given as ${KEY_NAMES[0]}=…`)
  }
}

const NO_URL = { protocol: '', username: '', password: '' }

function placeOf({ from, place }: Found): Finding {
  return place ?? { file: from }
}

function checkUnchanged(
  { from }: Source,
  endpoint: string,
  known: string | undefined,
  findings: Findings,
): void {
  if (known === undefined || endpoint === '' || endpoint === known) return
  const message =
    "The settings of the model's API in this file are not those this workspace was started with."
  findings.error({ file: from }, message, TRUST)
}

/** A key goes only where the one who wrote the key wanted it to go. */
function checkKeyStaysHome(source: Source, findings: Findings): void {
  const url = firstOf([source], ALL_URL_NAMES)
  if (url === undefined || isLoopback(url.value) || firstOf([source], KEY_NAMES) !== undefined) return
  const message = `${url.name} would send a key from elsewhere to an address that a tool may have written here.`
  findings.error(placeOf(url), message, `Put the key for that address into the .env beside it. ${TRUST}`)
}

const TRUST = 'If the settings are yours, say so once: --trust-workspace-env'

/** Of what decides where requests go and with which key; short, and of no use for guessing a key. */
function fingerprint(source: Source): string {
  const settings = [firstOf([source], KEY_NAMES), firstOf([source], URL_NAMES)]
  const lines = settings.flatMap((found) => (found ? [`${found.name}=${found.value}`] : []))
  if (lines.length === 0) return ''
  return createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 32)
}

interface Found {
  name: string
  value: string
  from: string
  place?: EnvPlace
}

/** The order of the sources comes before that of the names. An empty value is none. */
function firstOf(sources: readonly Source[], names: readonly string[]): Found | undefined {
  for (const { from, values, places = {} } of sources) {
    for (const name of names) {
      const value = values[name]
      if (!value) continue
      if (name === LLM_BASE_URL) return { name, value, from: join(dirname(from), 'agent.yaml') }
      const place = places[name]
      return { name, value, from, ...(place === undefined ? {} : { place }) }
    }
  }
  return undefined
}
