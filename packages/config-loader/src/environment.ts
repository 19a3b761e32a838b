import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { ConfigError, type ConfigWarning } from './errors.js'
import { collectFindings, type Findings } from './findings.js'
import { formatReport } from './format.js'
import { isLoopback } from './loopback.js'
import { readText } from './read-text.js'

/** Names under which each setting may be given; within one file the first one counts. */
const KEY_NAMES = ['DELTA_API_KEY', 'OPENAI_API_KEY'] as const
const URL_NAMES = ['DELTA_BASE_URL', 'OPENAI_BASE_URL', 'OPENAI_API_URL'] as const

export interface EnvironmentOptions {
  workDirectory: string
  agentHome: string
  /** The real environment, usually `process.env`. */
  environment: NodeJS.ProcessEnv
  /**
   * What `workspaceEndpoint` was when this run was first started, or in the workspace's previous run; '' if there
   * were no endpoint settings then. Undefined for a workspace that was never used.
   */
  knownWorkspaceEndpoint?: string
  /** Accept endpoint settings of the workspace whatever they are (`--trust-workspace-env`). */
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
  from: string
  values: Record<string, string | undefined>
  workspace: boolean
}

/**
 * Finds the key and the address of the model's API.
 *
 * The order: `.env` of the work directory, of the agent, of the project root (the directory with `.git` above the
 * agent), then the real environment. Only the documented names are read; nothing else in these files has any effect.
 *
 * The agent's own tools can write the first of these files. Therefore a base URL in it counts only if it is a
 * loopback address or its key is in the same file, and only if the file's settings are those of the first start.
 *
 * @throws {ConfigError} `ERR_CONFIG_ENVIRONMENT`: such a setting was refused, or an `.env` cannot be read.
 */
export async function loadEnvironment(options: EnvironmentOptions): Promise<Environment> {
  const findings = collectFindings()
  const sources = await readSources(options, findings)
  const workspace = sources.find((source) => source.workspace)
  const workspaceEndpoint = workspace === undefined ? '' : fingerprint(workspace)

  if (workspace !== undefined && !options.trustWorkspaceEnv) {
    checkWorkspace(workspace, workspaceEndpoint, options.knownWorkspaceEndpoint, findings)
  }
  if (findings.problems.length > 0) {
    const { problems, warnings } = findings
    throw new ConfigError('ERR_CONFIG_ENVIRONMENT', formatReport(problems), { problems, warnings })
  }

  const key = firstOf(sources, KEY_NAMES)
  const url = firstOf(sources, URL_NAMES)
  return {
    ...(key === undefined ? {} : { apiKey: key.value }),
    ...(url === undefined ? {} : { baseUrl: url.value }),
    origins: [key, url].flatMap((found) =>
      found === undefined ? [] : { name: found.name, from: found.from },
    ),
    workspaceEndpoint,
    warnings: findings.warnings,
  }
}

async function readSources(options: EnvironmentOptions, findings: Findings): Promise<Source[]> {
  const { workDirectory, agentHome, environment } = options
  const root = await findProjectRoot(agentHome)
  const workspaceFile = resolve(workDirectory, '.env')
  const files = [
    ...new Set([
      workspaceFile,
      resolve(agentHome, '.env'),
      ...(root === undefined ? [] : [join(root, '.env')]),
    ]),
  ]

  const sources: Source[] = []
  for (const path of files) {
    const values = await readEnvFile(path, findings)
    if (values !== undefined) sources.push({ from: path, values, workspace: path === workspaceFile })
  }
  return [...sources, { from: 'environment', values: environment, workspace: false }]
}

async function findProjectRoot(agentHome: string): Promise<string | undefined> {
  for (let directory = resolve(agentHome); ; directory = dirname(directory)) {
    if (await exists(join(directory, '.git'))) return directory
    if (directory === dirname(directory)) return undefined
  }
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false, // unreadable is as good as absent: it is only a place to look for another file
  )
}

async function readEnvFile(
  path: string,
  findings: Findings,
): Promise<Record<string, string | undefined> | undefined> {
  const read = await readText(path)
  if (read.ok) {
    warnAboutLines(read.text, path, findings)
    return parseEnv(read.text)
  }
  if (read.reason === 'missing' || read.reason === 'directory') return undefined
  findings.error({ file: path }, `${read.message}.`)
  return undefined
}

/** `DELTA_API_KEY: sk-…` is read by no parser of such files, and by nobody noticed. */
function warnAboutLines(text: string, file: string, findings: Findings): void {
  for (const [index, line] of text.split('\n').entries()) {
    const [, name] = /^\s*(?:export\s+)?([A-Za-z_]+)\s*(?![\w\s]*=)/.exec(line) ?? []
    if (name === undefined || line.includes('=') || !isDocumented(name)) continue
    findings.warn({ file, line: index + 1 }, `${name} has no value here.`, `Write: ${name}=…`)
  }
}

function isDocumented(name: string): boolean {
  return [...KEY_NAMES, ...URL_NAMES].some((known) => known === name)
}

function checkWorkspace(
  workspace: Source,
  endpoint: string,
  known: string | undefined,
  findings: Findings,
): void {
  const place = { file: workspace.from }
  const trust = 'Tools can write this file. If the settings are yours, say so once: --trust-workspace-env'
  if (known !== undefined && known !== endpoint && endpoint !== '') {
    findings.error(
      place,
      "The settings of the model's API in this file are not those this workspace was started with.",
      trust,
    )
    return
  }
  const url = firstOf([workspace], URL_NAMES)
  if (url === undefined || isLoopback(url.value) || firstOf([workspace], KEY_NAMES) !== undefined) return
  const hint = `Put the key of that address in the same file, or move the line to the agent's .env. ${trust}`
  findings.error(place, `${url.name} would send a key from elsewhere to an address from the workspace.`, hint)
}

/** Of what decides where requests go and with which key; short, and of no use for guessing a key. */
function fingerprint(workspace: Source): string {
  const settings = [firstOf([workspace], KEY_NAMES), firstOf([workspace], URL_NAMES)].flatMap((found) =>
    found === undefined ? [] : `${found.name}=${found.value}`,
  )
  if (settings.length === 0) return ''
  return createHash('sha256').update(settings.join('\n')).digest('hex').slice(0, 32)
}

function firstOf(
  sources: readonly Source[],
  names: readonly string[],
): { name: string; value: string; from: string } | undefined {
  for (const { from, values } of sources) {
    for (const name of names) {
      const value = values[name]
      if (value !== undefined && value !== '') return { name, value, from }
    }
  }
  return undefined
}
