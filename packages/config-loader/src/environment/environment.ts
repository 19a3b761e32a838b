import { createHash } from 'node:crypto'
import { checkEnvironmentOptions } from '../check-options.js'
import { ConfigError, type ConfigWarning } from '../errors.js'
import { collectFindings } from '../findings.js'
import { formatReport } from '../format.js'
import { KEY_NAMES, URL_NAMES } from './env-file.js'
import { checkKeyStaysHome, checkUnchanged, checkUrl } from './environment-checks.js'
import { ALL_URL_NAMES, firstOf, readSources, type Source } from './environment-sources.js'

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
   * What `workspaceEndpoint` was when this run was first started, or in the workspace's previous run; '' if there
   * were no such settings then. Undefined for a workspace that was never used.
   */
  knownWorkspaceEndpoint?: string | undefined
  /** Accept the workspace's settings whatever they are; but for an address that a tool of a run above may have written. */
  trustWorkspaceEnv?: boolean | undefined
}

/** Key and address of the model's API, and where they were found. */
export interface Environment {
  /** Absent when none was found; a local server needs none. */
  apiKey?: string
  /** Absent when none was found: the model's default counts. */
  baseUrl?: string
  /** Which name of which file (or `environment`) each value came from. Never the values. */
  origins: { name: string; from: string }[]
  /** A fingerprint of the endpoint settings in the workspace's `.env`; '' if it has none. To be kept with the run. */
  workspaceEndpoint: string
  warnings: ConfigWarning[]
}

/**
 * Finds the key and the address of the model's API.
 *
 * The order: `.env` of the work directory, of the agent, `llm.base_url`, `.env` of the project root (the directory
 * with `.git` above the agent), then the real environment. Nothing else in these files has any effect.
 *
 * Tools can write the first of these files, and the others if the agent lies in another run's workspace. Therefore a base
 * URL from there counts only if its key is in the same file, or in the workspace's if it is a loopback address, or in the
 * others if no key would be sent to it that is not for it; and the workspace's settings count only if they are those of
 * the first start.
 *
 * @throws {ConfigError} `ERR_CONFIG_ENVIRONMENT`: such a setting was refused, or an `.env` cannot be read.
 *   `ERR_CONFIG_NOT_FOUND`: there is no such agent's directory.
 */
export async function loadEnvironment(options: EnvironmentOptions): Promise<Environment> {
  checkEnvironmentOptions(options)
  const findings = collectFindings()
  const sources = readSources(options, findings)
  const [workspace] = sources
  const workspaceEndpoint = workspace === undefined ? '' : fingerprint(workspace)
  const url = firstOf(sources, ALL_URL_NAMES)
  if (url !== undefined) checkUrl(url, findings)
  if (workspace !== undefined && findings.problems.length === 0) {
    const trusted = options.trustWorkspaceEnv ?? false
    if (!trusted) checkUnchanged(workspace, workspaceEndpoint, options.knownWorkspaceEndpoint, findings)
    for (const source of sources) {
      const isChecked = source.writers === 'parent' || (source.writers === 'own' && !trusted)
      if (isChecked) checkKeyStaysHome(source, sources, findings)
    }
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

/** Of what decides where requests go and with which key; short, and of no use for guessing a key. */
function fingerprint(source: Source): string {
  const settings = [firstOf([source], KEY_NAMES), firstOf([source], URL_NAMES)]
  const lines = settings.flatMap((found) => (found ? [`${found.name}=${found.value}`] : []))
  if (lines.length === 0) return ''
  return createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 32)
}
