import { dirname } from 'node:path'
import {
  ALL_URL_NAMES,
  type Found,
  firstOf,
  KEY_NAMES,
  LLM_BASE_URL,
  readSources,
  SET,
  type Source,
  URL_NAMES,
} from './env-files.js'
import { realPath } from './files.js'
import { runsAbove } from './guards.js'
import {
  ConfigError,
  type ConfigWarning,
  collectFindings,
  type Finding,
  type Findings,
  formatReport,
} from './problems.js'

/** Where the settings of the model's API are looked for. */
export interface EnvironmentOptions {
  /** The workspace, whose `.env` comes first. */
  workDirectory: string
  /** The agent's directory, whose `.env` comes next. */
  agentHome: string
  /** The real environment, usually `process.env`. */
  environment: NodeJS.ProcessEnv
  /** `llm.base_url` of the agent; counts like a line of the agent's `.env`, and after it. */
  llmBaseUrl?: string | undefined
  /**
   * The agent's overrides. An `llm.base_url` among them counts in its place, and within a run as one that a tool may have
   * written: only with a key that is for it.
   */
  overrides?: readonly string[] | undefined
  /**
   * Whether a base URL in the workspace's `.env` is used: true, or a function that is asked if there is one. Without it,
   * such a URL is refused.
   */
  trustWorkspaceEnv?: boolean | ((endpoint: WorkspaceEndpoint) => boolean | Promise<boolean>) | undefined
}

/** Key and address of the model's API, and where they were found. */
export interface Environment {
  /** Absent when none was found; a local server needs none. */
  apiKey?: string
  /** Absent when none was found: the model's default counts. */
  baseUrl?: string
  /** Which name of which file (or `environment`) each value came from. Never the values. */
  origins: { name: string; from: string }[]
  /** Digest of the workspace's `.env`, if its base URL was trusted: see `WorkspaceEndpoint`. To be kept with the run. */
  workspaceEnvDigest?: string
  /** One of them names an endpoint or a key that neither the agent nor the environment does. */
  warnings: ConfigWarning[]
}

/**
 * Finds the key and the address of the model's API.
 *
 * The order: `.env` of the work directory, of the agent, `llm.base_url`, `.env` of the project root (the directory
 * with `.git` above the agent), then the real environment. Nothing else in these files has any effect.
 *
 * Tools, and whoever a workspace came from, can write the first of these files. Therefore a base URL from there counts only
 * with `trustWorkspaceEnv`, wherever it leads. The other files can be written by the tools of another run if the agent lies in that run's
 * workspace: then a base URL counts only if no key would be sent to it that is not for it.
 *
 * @throws {ConfigError} `ERR_CONFIG_ENVIRONMENT`: such a setting was refused, or an `.env` cannot be read.
 *   `ERR_CONFIG_NOT_FOUND`: there is no such agent's directory.
 */
export async function loadEnvironment(options: EnvironmentOptions): Promise<Environment> {
  const findings = collectFindings()
  const sources = readSources(options, findings)
  const url = firstOf(sources, ALL_URL_NAMES)
  const key = firstOf(sources, KEY_NAMES)
  if (url !== undefined) checkUrl(url, findings)
  if (findings.problems.length === 0)
    for (const source of sources) if (source.isParents) checkKeyStaysHome(source, sources, findings)
  const isBelowRun = runsAbove(options.environment).length > 0
  const endpoint =
    url && findings.problems.length === 0 ? workspaceEndpoint(url, sources, isBelowRun) : undefined
  if (url && endpoint && !(await isTrusted(endpoint, options))) refuseEndpoint(endpoint, url, findings)
  const { problems, warnings } = findings
  if (problems.length > 0) {
    throw new ConfigError('ERR_CONFIG_ENVIRONMENT', formatReport(problems), { problems, warnings })
  }

  tellOrigins(key, url, findings)
  return {
    ...(key && { apiKey: key.value }),
    ...(url && { baseUrl: url.value }),
    origins: [key, url].flatMap((found) => (found ? [{ name: found.name, from: found.from }] : [])),
    ...(endpoint && { workspaceEnvDigest: endpoint.digest }),
    warnings,
  }
}

async function isTrusted(
  endpoint: WorkspaceEndpoint,
  { trustWorkspaceEnv = false }: EnvironmentOptions,
): Promise<boolean> {
  return typeof trustWorkspaceEnv === 'function' ? trustWorkspaceEnv(endpoint) : trustWorkspaceEnv
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

/** A base URL in the workspace's `.env`. */
export interface WorkspaceEndpoint {
  /** Path of the `.env`. */
  file: string
  /** Absent where no line begins with the variable, as after a carriage return. */
  line?: number
  /** The variable. */
  name: string
  /** The address without its query, which may hold a token. */
  shownUrl: string
  /** SHA-256 of the file's content, in hexadecimal. */
  digest: string
}

/** The address that counts, if it is in the workspace's `.env` and a run above this one does not use it anyway. */
function workspaceEndpoint(
  url: Found,
  sources: readonly Source[],
  isBelowRun: boolean,
): WorkspaceEndpoint | undefined {
  if (url.of !== 'workspace') return undefined
  if (isBelowRun && firstOf(sources.slice(-1), URL_NAMES)?.value === url.value) return undefined
  const { name, from: file, place, digest } = url
  const line = place && { line: place.line }
  return { file, ...line, name, shownUrl: withoutQuery(url.value), digest }
}

/** Tools can write to the workspace, and so could whoever it came from. */
function refuseEndpoint({ name, shownUrl }: WorkspaceEndpoint, url: Found, findings: Findings): void {
  const message = `The endpoint ${shownUrl} (${name}) is not used, because whoever can write to the workspace can set it.`
  const hint = `Move the line to the agent's .env, or trust this file.`
  findings.error({ ...placeOf(url), allowedBy: { option: 'trustWorkspaceEnv' } }, message, hint)
}

/** One line about an endpoint and a key that neither the agent nor the environment names. */
function tellOrigins(key: Found | undefined, url: Found | undefined, findings: Findings): void {
  const [endpoint, secret] = [url, key].map((found) => (found && isElsewhere(found) ? found : undefined))
  const what = `The model's endpoint ${endpoint && withoutQuery(endpoint.value)}`
  if (endpoint && secret)
    findings.warn(
      placeOf(endpoint),
      endpoint.from === secret.from
        ? `${what} and the key are from this file.`
        : `${what} is from this file, and the key is from ${secret.from}.`,
    )
  else if (endpoint) findings.warn(placeOf(endpoint), `${what} is from this file.`)
  else if (secret) findings.warn(placeOf(secret), "The model's key is from this file.")
}

function isElsewhere({ of }: Found): boolean {
  return of === 'workspace' || of === 'project'
}

function withoutQuery(address: string): string {
  const { origin, pathname } = new URL(address)
  return `${origin}${pathname}`
}

/**
 * A key goes only where the one who wrote the key wanted it to go. An address that the tools of a parent run may have
 * written counts only if it is the parent's own, or on this machine and no key is there to be sent.
 */
function checkKeyStaysHome(source: Source, sources: readonly Source[], findings: Findings): void {
  const url = firstOf([source], ALL_URL_NAMES)
  if (url === undefined || hasOwnKey(source, url, sources)) return
  const inherited = firstOf(sources.slice(-1), URL_NAMES)?.value === url.value
  const keyless = isLoopback(url.value) && firstOf(sources, KEY_NAMES) === undefined
  if (inherited || keyless) return
  const message = `${url.name} would send a key from elsewhere to an address that a tool may have written here.`
  const hint = 'Put the key for that address into the .env beside it.'
  findings.error(placeOf(url), message, url.from === SET ? undefined : hint)
}

/** Whether the key that would be sent is of the same file; `.env` may be a link to one that knows nothing of `llm.base_url`. */
function hasOwnKey({ from }: Source, url: Found, sources: readonly Source[]): boolean {
  if (firstOf(sources, KEY_NAMES)?.from !== from) return false
  return url.name !== LLM_BASE_URL || dirname(realPath(from) ?? from) === realPath(dirname(from))
}

/** True for a URL whose host is this machine: `localhost`, names under it, 127.0.0.0/8, `[::1]`. */
function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { hostname, username } = new URL(url)
  if (username !== '') return false
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    /^127(\.\d+){3}$/.test(hostname) ||
    hostname === '[::1]'
  )
}
