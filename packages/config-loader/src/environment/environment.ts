import { checkEnvironmentOptions } from '../check-options.js'
import { ConfigError, type ConfigWarning } from '../errors.js'
import { collectFindings } from '../findings.js'
import { formatReport } from '../format.js'
import { runsAbove } from '../parts/nested.js'
import { KEY_NAMES } from './env-file.js'
import {
  checkKeyStaysHome,
  checkUrl,
  refuseEndpoint,
  tellOrigins,
  type WorkspaceEndpoint,
  workspaceEndpoint,
} from './environment-checks.js'
import { ALL_URL_NAMES, firstOf, readSources } from './environment-sources.js'

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
  checkEnvironmentOptions(options)
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
