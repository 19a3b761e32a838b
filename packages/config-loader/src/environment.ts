import { createHash } from 'node:crypto'
import { existsSync, lstatSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import {
  type Credentials,
  credentialsAbove,
  exportedIn,
  type Origin,
  type Pair,
} from '@delta/executor/internal'
import type { LlmSettings } from '@delta/model/internal'
import {
  KEY_NAMES,
  SHARED_KEY,
  SHARED_URL,
  VENDORS,
  vendorIdOf,
  vendorOfProvider,
} from '@delta/model/vendors'
import { nearestNames } from '@delta/settings'
import {
  type Choice,
  choose,
  environment,
  type Found,
  LLM_BASE_URL,
  type Source,
  type Writer,
  wantedBy,
  wantedOf,
} from './choose.js'
import { openDirectory, readText, realPath } from './files.js'
import { liesInParentRun, runsAbove } from './guards.js'
import {
  ConfigError,
  type ConfigProblem,
  type ConfigWarning,
  collectFindings,
  type Findings,
  formatReport,
} from './problems.js'

/** Where `loadEnvironment` looks for the settings of the model's API. */
export interface EnvironmentOptions {
  /** The workspace, whose `.env` comes first. */
  workDirectory: string
  /** The agent's directory, whose `.env` comes next. */
  agentHome: string
  /** The real environment, usually `process.env`. */
  env: NodeJS.ProcessEnv
  /** The agent's `llm`: each provider has its own names. Default: those of `openai`. */
  llm?: Pick<LlmSettings, 'provider' | 'apiKeyEnv' | 'otherKeyEnv' | 'isOtherProvider'> | undefined
  /** `llm.base_url` of the agent. Counts like a line of the agent's `.env`, and after it. */
  llmBaseUrl?: string | undefined
  /** The agent's overrides. Within a run, a tool may have chosen a `llm.base_url` among them. */
  overrides?: readonly string[] | undefined
  /** Those of `overrides` that a tool chose when the run began. Within a run, each of them counts as such. */
  overridesOfTools?: readonly string[] | undefined
  /**
   * Whether a base URL in the `.env` of the workspace or the project is used: true, or a function that is asked if there is
   * one. Default: such a URL is refused.
   */
  trustWorkspaceEnv?: boolean | ((endpoint: WorkspaceEndpoint) => boolean | Promise<boolean>) | undefined
}

/** Key and address of the model's API, and where they were found. */
export interface Environment {
  /** Absent if none was found; a local server needs none. */
  apiKey?: string
  /** Absent if none was found: the vendor's usual one counts. */
  baseUrl?: string
  /** What was found of other vendors: for commands that list a key in `pass_env`, and for sub-agents. */
  others: Pair[]
  /** The keys and addresses that the person exported, by their variables. */
  exported: Record<string, string>
  /** Which variable of which file (or `environment`, or the run above) each value came from. Never the values. */
  origins: Origin[]
  /** Digest of the `.env` whose base URL was trusted: see `WorkspaceEndpoint`. To be kept with the run. */
  workspaceEnvDigest?: string
  /** One of them names an endpoint or a key that neither the agent nor the environment sets. */
  warnings: ConfigWarning[]
}

/** A base URL in the `.env` of the workspace or the project. */
export interface WorkspaceEndpoint {
  of: 'workspace' | 'project'
  /** Path of the `.env`. */
  file: string
  /** Absent if no line begins with the variable, as after a carriage return. */
  line?: number
  /** The variable. */
  name: string
  /** The address without its query, which may hold a token. */
  shownUrl: string
  /** SHA-256 of the file's content, in hexadecimal. */
  digest: string
}

/**
 * Finds the key and the address of the model's API: see `docs/reference/environment.md`.
 *
 * The order: `.env` of the work directory, of the agent, `llm.base_url`, `.env` of the project root (the directory
 * with `.git` above the agent), then the real environment. Nothing else in these files has any effect.
 *
 * @throws {ConfigError} `ERR_CONFIG_ENVIRONMENT`: an address was refused, or an `.env` cannot be read.
 *   `ERR_CONFIG_NOT_FOUND`: the agent's directory does not exist.
 * @example
 * const { apiKey, baseUrl } = await loadEnvironment({ workDirectory: '.', agentHome: agent.home, llm: agent.llm, env: process.env })
 */
export async function loadEnvironment(options: EnvironmentOptions): Promise<Environment> {
  const { env, llm = { provider: 'openai' } } = options
  const findings = collectFindings()
  const above = credentialsAbove(env)
  if (above === undefined) findings.error({ file: 'DELTA_CREDENTIALS' }, NOT_CREDENTIALS)
  const known = above ?? { pairs: [], env: {} }
  const exported = withoutAbove(exportedIn(env, [llm.apiKeyEnv, llm.otherKeyEnv]), known)
  const { sources, mistakes } = readSources(options, findings)
  const own = [...sources, environment(exported)]
  const choice = choose(wantedBy(llm), own, known)
  const { key, url, row } = choice
  const endpoint = await checkAddress(choice, options, findings)
  const { problems, warnings } = findings
  if (problems.length > 0)
    throw new ConfigError('ERR_CONFIG_ENVIRONMENT', formatReport(problems), { problems, warnings })

  warnOfOrigins(choice, choose(wantedBy(llm), withoutSource(own, key), known), findings)
  const apiKey = key?.value ?? row?.key
  const usual = vendorOfProvider(llm.provider).url
  const baseUrl = url?.value ?? (row?.address === usual ? undefined : row?.address)
  const isServer = VENDORS.some(({ id }) => id === llm.provider)
  if (apiKey === undefined && baseUrl === undefined && isServer)
    for (const { place, message, hint } of mistakes.slice(0, 1)) findings.warn(place, message, hint)
  return {
    ...(apiKey !== undefined && { apiKey }),
    ...(baseUrl !== undefined && { baseUrl }),
    // where another provider was set, nobody knows any more which address the agent's own keys were for
    others: othersIn(
      own.filter(({ of }) => of !== 'agent' || !llm.isOtherProvider),
      known,
      { vendor: vendorIdOf(llm), ownKey: apiKey, findings },
    ),
    exported: { ...known.env, ...exported },
    origins: originsOf(choice, env),
    ...(endpoint && { workspaceEnvDigest: endpoint.digest }),
    warnings,
  }
}

const NOT_CREDENTIALS =
  'It does not hold what an engine sets there for its sub-agents. Do not set it yourself.'

/** What was exported for this engine itself: the run above hands on its own by name, too, where `pass_env` lists a key. */
function withoutAbove(exported: Record<string, string>, { pairs, env }: Credentials): Record<string, string> {
  const ofPairs = new Set(pairs.flatMap(({ key, address }) => [key, address]))
  const entries = Object.entries(exported)
  return Object.fromEntries(entries.filter(([name, value]) => env[name] !== value && !ofPairs.has(value)))
}

/** @returns The address that a person said yes to. */
async function checkAddress(
  { url, doubt }: Choice,
  { trustWorkspaceEnv = false }: EnvironmentOptions,
  findings: Findings,
): Promise<WorkspaceEndpoint | undefined> {
  if (url === undefined) return undefined
  checkUrl(url, findings)
  if (findings.problems.length > 0) return undefined
  if (doubt === 'stray') refuseStray(url, findings)
  const endpoint = doubt === 'ask' ? endpointOf(url) : undefined
  if (endpoint === undefined) return undefined
  const isTrusted =
    typeof trustWorkspaceEnv === 'function' ? await trustWorkspaceEnv(endpoint) : trustWorkspaceEnv
  if (!isTrusted) refuseEndpoint(endpoint, url, findings)
  return endpoint
}

/**
 * What the files, or else the run above, have of each other vendor. Nobody is asked about an address of the workspace or the project in
 * them, so such a pair is none. A key that is the agent's own goes only where that goes.
 */
function othersIn(
  own: readonly Source[],
  above: Credentials,
  { vendor, ownKey, findings }: { vendor: string; ownKey: string | undefined; findings: Findings },
): Pair[] {
  const listed = VENDORS.filter(({ id }) => id !== vendor).flatMap((other) => {
    const inherited = above.pairs.filter(({ vendor: id }) => id === other.id)
    const { key, url, row, doubt } = choose(wantedOf(other), own, above)
    if (doubt !== undefined || (ownKey !== undefined && key?.value === ownKey)) return []
    const isOfFiles = [key, url].some((found) => found !== undefined && found.of !== 'environment')
    if (!isOfFiles) return inherited
    if (key) warnOfReplaced(key, choose(wantedOf(other), withoutSource(own, key), above), findings)
    const address = row?.address ?? url?.value ?? other.url
    return [{ vendor: other.id, key: key?.value, address, origins: originsIn([key, url]) }]
  })
  const isKnown = (id: string) => id === vendor || VENDORS.some((each) => each.id === id)
  return [...listed, ...above.pairs.filter(({ vendor: id }) => !isKnown(id))]
}

function originsIn(found: readonly (Found | undefined)[]): Origin[] {
  return found.flatMap((each) => (each ? [{ name: each.name, from: each.from }] : []))
}

/** What the run above found is named together with that run. */
function originsOf(
  { key, url, row }: Choice,
  { DELTA_PARENT_RUN: parent = '' }: NodeJS.ProcessEnv,
): Origin[] {
  const inherited = (row?.origins ?? []).filter(({ name }) => key === undefined || isAddress(name))
  const named = inherited.map(({ name, from }) => ({
    name,
    from: from.startsWith('run ') ? from : `run ${basename(parent)}, ${from}`,
  }))
  return [...originsIn([key, url]), ...named]
}

function isAddress(name: string): boolean {
  return name === LLM_BASE_URL || name === SHARED_URL || name.endsWith('_URL')
}

const KNOWN_NAMES: readonly string[] = [
  ...[SHARED_KEY, ...VENDORS.filter(({ url }) => url !== undefined).map(({ key }) => key)],
  ...[SHARED_URL, ...VENDORS.flatMap(({ urlNames }) => urlNames)],
]

interface Mistake {
  place: EnvPlace
  message: string
  hint: string
}

/** Without the line's text, which may hold a key. */
type EnvPlace = Required<Pick<ConfigProblem, 'file' | 'line' | 'column'>>

/** The files and the agent's own address, in their order; and lines that were probably meant to set a key. A file at its second mention has no values. */
function readSources(
  options: EnvironmentOptions,
  findings: Findings,
): { sources: Source[]; mistakes: Mistake[] } {
  const { workDirectory, agentHome, env, llmBaseUrl, overrides = [], overridesOfTools = [] } = options
  const { home } = openDirectory(agentHome)
  const root = findProjectRoot(home)
  const mistakes: Mistake[] = []
  const seen = new Set<string>()
  const envFile = (of: Writer, directory: string, isOfTools = false): Source => {
    const from = resolve(directory, '.env')
    const isRead = !seen.has(from) && (of !== 'project' || isOfUser(from, findings))
    seen.add(from)
    const file = isRead ? readEnvFile(from, findings) : undefined
    if (file) mistakes.push(...file.mistakes)
    const { values, places, digest } = file ?? { values: {}, places: {}, digest: '' }
    return { of, from, values, places, digest, isOfTools, beside: from }
  }
  const set = overrides.findLast((text) => /^llm(\.base_url)?=/.test(text))
  const isHomeOfTools = liesInParentRun(home, env)
  const settings = { of: 'agent', values: { [LLM_BASE_URL]: llmBaseUrl }, places: {}, digest: '' } as const
  const sources = [
    // in the agent's own directory, an `.env` is the agent's: a tool that can write it can write agent.yaml
    ...(realPath(workDirectory) === home ? [] : [envFile('workspace', workDirectory)]),
    ofFileProvider(envFile('agent', agentHome, isHomeOfTools), options.llm),
    set !== undefined
      ? {
          ...settings,
          from: '--set',
          isOfTools: runsAbove(env).length > 0 || overridesOfTools.includes(set),
        }
      : {
          ...settings,
          from: resolve(agentHome, 'agent.yaml'),
          isOfTools: isHomeOfTools,
          beside: besideOf(agentHome),
        },
    ...(root === undefined ? [] : [envFile('project', root, liesInParentRun(root, env))]),
  ]
  return { sources, mistakes }
}

/** The `.env` of the agent's directory, unless it is a link out of there. */
function besideOf(agentHome: string): string | undefined {
  const beside = resolve(agentHome, '.env')
  return dirname(realPath(beside) ?? beside) === realPath(dirname(beside)) ? beside : undefined
}

/** Without a provider's name, the key and the address beside `agent.yaml` are for the provider in there. */
function ofFileProvider(source: Source, llm: EnvironmentOptions['llm']): Source {
  if (!llm?.isOtherProvider) return source
  return { ...source, values: { ...source.values, [SHARED_KEY]: undefined, [SHARED_URL]: undefined } }
}

/** Another user may have made a project in a directory above; root owns the computer anyway. A link has an owner of its own. */
function isOfUser(path: string, findings: Findings): boolean {
  const owners = [lstatSync, statSync].map((look) => look(path, { throwIfNoEntry: false })?.uid)
  const stranger = owners.find((uid) => uid !== undefined && uid !== 0 && uid !== process.geteuid?.())
  if (stranger === undefined || process.geteuid === undefined) return true
  const message = `Not used: it belongs to another user (${stranger}).`
  findings.warn({ file: path }, message, "Put what you need of it into the agent's .env.")
  return false
}

/** Reads an `.env` file; a virtual environment of Python may have its name. */
function readEnvFile(path: string, findings: Findings) {
  const read = readText(path)
  if (read.ok) {
    const digest = createHash('sha256').update(read.text).digest('hex')
    const { [LLM_BASE_URL]: _, ...values } = parseEnv(read.text) // the name is that of agent.yaml's
    return { values, ...findNames(read.text, path, findings), digest }
  }
  if (read.reason !== 'missing' && read.reason !== 'directory')
    findings.error({ file: path }, `${read.message}.`)
  return undefined
}

/** Where the names stand; warns of names that were probably meant as one of ours, which nothing reads. */
function findNames(text: string, file: string, findings: Findings) {
  const places: Record<string, EnvPlace> = {}
  const mistakes: Mistake[] = []
  for (const [index, line] of text.split('\n').entries()) {
    const [, before = '', name = ''] = /^(\s*(?:export\s+)?)([A-Za-z_]+)\s*=/.exec(line) ?? []
    const place = { file, line: index + 1, column: before.length + 1 }
    if (name !== '') places[name] = place
    else if (!line.includes('=') && /^\s*[^#\s]/.test(line)) mistakes.push({ place, ...NO_VALUE })
    if (KNOWN_NAMES.includes(name) || KEY_NAMES.includes(name)) continue
    if (name === 'DELTA_PRICES')
      findings.warn(place, 'DELTA_PRICES is ignored here.', 'Set it in the environment, or use --prices.')
    const suggested = name === 'OPENAI_API_BASE' ? 'OPENAI_BASE_URL' : nearestNames(name, KNOWN_NAMES, 2)[0]
    const message = `${name} has no effect.`
    if (suggested !== undefined) findings.warn(place, message, `Did you mean ${suggested}?`)
    else if (name.endsWith('KEY')) mistakes.push({ place, message, hint: KEYS_ARE })
  }
  return { places, mistakes }
}

/** The line is not shown: it may be a key. It also makes the reader take the next line for a part of it. */
const NO_VALUE = {
  message: 'This line has no "=", so it has no effect, nor may the next one.',
  hint: 'Write DELTA_API_KEY=….',
}

const KEYS_ARE = `A key is read from ${KNOWN_NAMES.filter((name) => name.endsWith('KEY')).join(', ')}.`

/** The directory with `.git` at or above another one. */
function findProjectRoot(start: string): string | undefined {
  for (let directory = start; ; directory = dirname(directory)) {
    if (existsSync(join(directory, '.git'))) return directory
    if (directory === dirname(directory)) return undefined
  }
}

/** Comes before every other check: only a URL can be judged. The text is not shown, for it may be a key. */
function checkUrl({ name, value, place }: Found, findings: Findings): void {
  if (name === LLM_BASE_URL) return // checked with the rest of agent.yaml
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    const hint = `For example ${name}=http://localhost:11434/v1`
    findings.error(place, `${name} is not an http or https URL.`, hint)
  } else if (url.username !== '' || url.password !== '') {
    const hint = `Take them out of the URL; a key is given as DELTA_API_KEY=…`
    findings.error(place, `${name} holds credentials.`, hint)
  }
}

/** Refuses an address that the tools of a run above may have written: a key from elsewhere would go there. */
function refuseStray({ name, from, place }: Found, findings: Findings): void {
  const message = `${name} would send a key from elsewhere to an address that a tool may have written here.`
  const hint = 'Put the key for that address into the .env beside it.'
  findings.error(place, message, from === '--set' ? undefined : hint)
}

/** Undefined for an address of the agent's author or of the person. */
function endpointOf({ of, name, from: file, place, value, digest }: Found): WorkspaceEndpoint | undefined {
  if (of !== 'workspace' && of !== 'project') return undefined
  const line = place.line === undefined ? {} : { line: place.line }
  return { of, file, ...line, name, shownUrl: withoutQuery(value), digest }
}

function refuseEndpoint(
  { of, name, shownUrl }: WorkspaceEndpoint,
  { place }: Found,
  findings: Findings,
): void {
  const message = `The endpoint ${shownUrl} (${name}) is not used, because anyone who can write to the ${of} can set it.`
  const hint = `Move the line to the agent's .env, or trust this file.`
  findings.error({ ...place, allowedBy: { option: 'trustWorkspaceEnv' } }, message, hint)
}

/**
 * One warning about an endpoint and a key that come from neither the agent nor the environment, and the key that is replaced.
 *
 * @param replaced - The choice without the file of the key.
 */
function warnOfOrigins({ key, url }: Choice, replaced: Choice, findings: Findings): void {
  const isForeign = (found: Found | undefined) => found?.of === 'workspace' || found?.of === 'project'
  const [endpoint, secret] = [url, key].map((found) => (isForeign(found) ? found : undefined))
  const instead = secret === undefined ? '' : insteadOf(secret, replaced)
  if (endpoint) {
    const isOneFile = endpoint.from === secret?.from
    const verb = isOneFile ? 'and the key are' : 'is'
    const rest = secret && !isOneFile ? `, and the key is from ${secret.from}` : ''
    const message = `The model's endpoint ${withoutQuery(endpoint.value)} ${verb} from this file${rest}${instead}.`
    findings.warn(endpoint.place, message)
  } else if (secret) findings.warn(secret.place, `The model's key is from this file${instead}.`)
}

/** The key of another vendor, for commands and sub-agents: only where it takes the place of another one. */
function warnOfReplaced(key: Found, replaced: Choice, findings: Findings): void {
  if (key.of !== 'workspace' && key.of !== 'project') return
  const instead = insteadOf(key, replaced)
  if (instead !== '')
    findings.warn(key.place, `${key.name} of commands and sub-agents is from this file${instead}.`)
}

function withoutSource(sources: readonly Source[], found: Found | undefined): Source[] {
  return sources.filter(({ from }) => from !== found?.from)
}

function insteadOf(secret: Found, { key, row }: Choice): string {
  if (key === undefined) return row?.key === undefined ? '' : ', in place of the key of the run above'
  if (key.value === secret.value) return ''
  const { name, of, from } = key
  return `, in place of ${of === 'environment' ? `${name} of the environment` : `${name} in ${from}`}`
}

function withoutQuery(address: string): string {
  const { origin, pathname } = new URL(address)
  return `${origin}${pathname}`
}
