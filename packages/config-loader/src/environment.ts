import { createHash } from 'node:crypto'
import { existsSync, lstatSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { CREDENTIAL_NAMES, isKeyOfOther, keyNames } from '@delta/executor/internal'
import type { LlmSettings } from '@delta/model/internal'
import { nearestNames } from '@delta/settings'
import { openDirectory, readText, realPath } from './files.js'
import { liesInParentRun, runsAbove } from './guards.js'
import {
  ConfigError,
  type ConfigProblem,
  type ConfigWarning,
  collectFindings,
  type Finding,
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
  /**
   * The agent's overrides. If they set `llm.base_url`, a tool of the run above may have chosen `llmBaseUrl`: within a run
   * it then counts only without a key, or if that run uses it too.
   */
  overrides?: readonly string[] | undefined
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
  /** Absent if none was found: the model's default counts. */
  baseUrl?: string
  /** Every key that was found, and the address of each provider's, by name: for commands that list them in `pass_env`. */
  found: Record<string, string>
  /** Which name of which file (or `environment`) each value came from. Never the values. */
  origins: { name: string; from: string }[]
  /**
   * Digest of the `.env` of the workspace or the project, if its base URL was trusted: see `WorkspaceEndpoint`. To be kept with
   * the run.
   */
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
 * Finds the key and the address of the model's API.
 *
 * The order: `.env` of the work directory, of the agent, `llm.base_url`, `.env` of the project root (the directory
 * with `.git` above the agent), then the real environment. Nothing else in these files has any effect.
 *
 * Tools can write to the workspace, and so could the author of what was cloned there; a clone or a tool may also have made the
 * project. So a base URL from the `.env` of either counts only with `trustWorkspaceEnv`, wherever it leads, and a project's `.env`
 * of another user does not count at all. If the agent lies in the workspace of another run, that run's tools can write the other
 * files too: then a base URL counts only if no key from elsewhere would be sent to it.
 *
 * @throws {ConfigError} `ERR_CONFIG_ENVIRONMENT`: such a setting was refused, or an `.env` cannot be read.
 *   `ERR_CONFIG_NOT_FOUND`: the agent's directory does not exist.
 * @example
 * const { apiKey, baseUrl } = await loadEnvironment({ workDirectory: '.', agentHome: agent.home, llm: agent.llm, env: process.env })
 */
export async function loadEnvironment(options: EnvironmentOptions): Promise<Environment> {
  const findings = collectFindings()
  const sources = readSources(options, findings)
  const { keys, urls } = namesFor(options.llm)
  const keyIn = (places: readonly Source[]) =>
    keys.map((names) => firstOf(places, names)).find((found) => found !== undefined)
  const key = keyIn(sources)
  const addresses = withAddressesFor(key, sources)
  const url = firstOf(addresses, [...urls, LLM_BASE_URL])
  const inherited = firstOf(addresses.slice(-1), urls)?.value
  if (url !== undefined) checkUrl(url, findings)
  if (url?.isParents && url.value !== inherited && findings.problems.length === 0)
    checkKeyStaysHome(url, key, findings)
  const isOfRunAbove = url?.value === inherited && runsAbove(options.env).length > 0
  const endpoint = url && !isOfRunAbove && findings.problems.length === 0 ? endpointOf(url) : undefined
  if (url && endpoint && !(await isTrusted(endpoint, options))) refuseEndpoint(endpoint, url, findings)
  const { problems, warnings } = findings
  if (problems.length > 0) {
    throw new ConfigError('ERR_CONFIG_ENVIRONMENT', formatReport(problems), { problems, warnings })
  }

  const replaced = key && keyIn(sources.filter(({ from }) => from !== key.from))
  warnOfOrigins({ key, url, replaced }, findings)
  if (key === undefined && url === undefined && needsKey(options.llm))
    for (const { place, message, hint } of sources.flatMap(({ mistakes }) => mistakes))
      findings.warn(place, message, hint)
  return {
    ...(key && { apiKey: key.value }),
    ...(url && { baseUrl: url.value }),
    found: forCommands(sources, endpoint, options.llm),
    origins: [key, url].flatMap((found) => (found ? [{ name: found.name, from: found.from }] : [])),
    ...(endpoint && { workspaceEnvDigest: endpoint.digest }),
    warnings,
  }
}

/** The names of each provider's address after `DELTA_BASE_URL`; within one file the first one counts. */
const URL_NAMES = {
  openai: ['OPENAI_BASE_URL', 'OPENAI_API_URL'],
  anthropic: ['ANTHROPIC_BASE_URL'],
} as const
const KNOWN_NAMES: readonly string[] = [
  ...['DELTA_API_KEY', 'OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'DELTA_BASE_URL'],
  ...Object.values(URL_NAMES).flat(),
]

/**
 * The names that count for a provider. A variable that the agent names comes first in all sources. The provider's usual one then
 * counts no more: that key may be another server's.
 */
function namesFor({ provider, apiKeyEnv }: NonNullable<EnvironmentOptions['llm']> = { provider: 'openai' }) {
  const own = provider === 'anthropic' ? 'anthropic' : 'openai'
  const usual = provider === 'anthropic' ? 'ANTHROPIC_API_KEY' : 'OPENAI_API_KEY'
  const keys = apiKeyEnv === undefined ? [['DELTA_API_KEY', usual]] : [[apiKeyEnv], ['DELTA_API_KEY']]
  return { keys, urls: ['DELTA_BASE_URL', ...URL_NAMES[own]] }
}

/** A workspace, a project without a yes, and the tools of a run above may not choose where the key of a command goes. */
function forCommands(
  sources: readonly Source[],
  trusted: WorkspaceEndpoint | undefined,
  llm: EnvironmentOptions['llm'],
): Record<string, string> {
  const isBelieved = ({ of, from }: Source) =>
    of !== 'workspace' && (of !== 'project' || from === trusted?.file)
  const believed = sources.filter((source) => isBelieved(source) && !source.isParents)
  const addresses = ['DELTA', 'OPENAI', 'ANTHROPIC'].map((vendor) =>
    firstOf(withAddressesFor(firstOf(sources, [`${vendor}_API_KEY`]), believed), [`${vendor}_BASE_URL`]),
  )
  const found = [...keyNames(llm).map((name) => firstOf(sources, [name])), ...addresses]
  return Object.fromEntries(found.flatMap((each) => (each ? [[each.name, each.value]] : [])))
}

const LLM_BASE_URL = 'llm.base_url'

/** A place where these settings may be written. */
interface Source {
  of: 'workspace' | 'agent' | 'project' | 'environment'
  /** A file, `environment`, or `--set`. */
  from: string
  values: Record<string, string | undefined>
  /** Where a file sets each name; the last place counts. */
  places: Record<string, EnvPlace>
  /** SHA-256 of the file's content. */
  digest: string
  /** True if the tools of the run can write it in which this engine is a tool. */
  isParents: boolean
  /** Lines that were probably meant to set a key. */
  mistakes: Mistake[]
}

interface Mistake {
  place: EnvPlace
  message: string
  hint: string
}

/** Without the line's text, which may hold a key. */
type EnvPlace = Required<Pick<ConfigProblem, 'file' | 'line' | 'column'>>

/** All sources in their order. A missing file has no values, and neither has a file at its second mention. */
function readSources(options: EnvironmentOptions, findings: Findings): Source[] {
  const { workDirectory, agentHome, env, llmBaseUrl, overrides = [] } = options
  const { home } = openDirectory(agentHome)
  const root = findProjectRoot(home)
  const seen = new Set<string>()
  const envFile = (of: Source['of'], directory: string, isParents = false): Source => {
    const from = resolve(directory, '.env')
    const isRead = !seen.has(from) && (of !== 'project' || isOfUser(from, findings))
    const file = isRead ? readEnvFile(from, findings) : undefined
    seen.add(from)
    return { of, from, values: {}, places: {}, digest: '', isParents, mistakes: [], ...file }
  }
  const bare = { values: { [LLM_BASE_URL]: llmBaseUrl }, places: {}, digest: '', mistakes: [] }
  const isSet = overrides.some((text) => /^llm(\.base_url)?=/.test(text))
  const isHomeParents = liesInParentRun(home, env)
  return [
    // in the agent's own directory, an `.env` is the agent's: a tool that can write it can write agent.yaml
    ...(realPath(workDirectory) === home ? [] : [envFile('workspace', workDirectory)]),
    ofFileProvider(envFile('agent', agentHome, isHomeParents), options.llm),
    isSet
      ? { ...bare, of: 'agent', from: '--set', isParents: runsAbove(env).length > 0 }
      : { ...bare, of: 'agent', from: resolve(agentHome, 'agent.yaml'), isParents: isHomeParents },
    ...(root === undefined ? [] : [envFile('project', root, liesInParentRun(root, env))]),
    { ...bare, of: 'environment', from: 'environment', values: ownOf(env, options.llm), isParents: false },
  ]
}

/** Without a provider's name, the key and the address beside `agent.yaml` are for the provider in there. */
function ofFileProvider(source: Source, llm: EnvironmentOptions['llm']): Source {
  if (!llm?.isOtherProvider) return source
  const { DELTA_API_KEY: _, DELTA_BASE_URL: __, ...values } = source.values
  return { ...source, values }
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

/** The environment without the key and the address that the agent above has of another provider. */
function ownOf(env: NodeJS.ProcessEnv, llm: EnvironmentOptions['llm']): NodeJS.ProcessEnv {
  const { [LLM_BASE_URL]: _, ...own } = env
  const { DELTA_API_KEY: __, DELTA_BASE_URL: ___, ...rest } = own
  return isKeyOfOther(env, llm) ? rest : own
}

/**
 * An address that a run above set, which `DELTA_URLS_OF_RUN` lists, is for the key beside it only: a key from elsewhere goes to its
 * provider. A key of the workspace changes nothing, because it would choose the model's server.
 */
function withAddressesFor(key: Found | undefined, sources: readonly Source[]): readonly Source[] {
  if (key === undefined || key.of === 'workspace') return sources
  return sources.map((source) => {
    const { DELTA_URLS_OF_RUN: ofRun, DELTA_KEY_FOR: owner = '' } = source.values
    if (source.of !== 'environment' || !ofRun) return source
    const keyOf = (name: string) => source.values[name.replace(/_BASE_URL$/, '_API_KEY')]
    const hasKey = (name: string) =>
      [keyOf(name), name === 'DELTA_BASE_URL' && source.values[owner]].includes(key.value)
    const kept = Object.entries(source.values).filter(
      ([name]) => !ofRun.split(' ').includes(name) || hasKey(name),
    )
    return { ...source, values: Object.fromEntries(kept) }
  })
}

/** Reads an `.env` file; a virtual environment of Python may have its name. */
function readEnvFile(path: string, findings: Findings): Partial<Source> | undefined {
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
function findNames(text: string, file: string, findings: Findings): Pick<Source, 'places' | 'mistakes'> {
  const places: Source['places'] = {}
  const mistakes: Mistake[] = []
  for (const [index, line] of text.split('\n').entries()) {
    const [, before = '', name = ''] = /^(\s*(?:export\s+)?)([A-Za-z_]+)/.exec(line) ?? []
    const place = { file, line: index + 1, column: before.length + 1 }
    if (!line.includes('=')) {
      if (/^\s*[^#\s]/.test(line)) mistakes.push({ place, ...NO_VALUE })
      continue
    }
    places[name] = place
    if (KNOWN_NAMES.includes(name) || CREDENTIAL_NAMES.includes(name)) continue
    const suggested = name === 'OPENAI_API_BASE' ? 'OPENAI_BASE_URL' : nearestNames(name, KNOWN_NAMES, 2)[0]
    const hint = (known: string) => `Did you mean ${known}?`
    const message = `${name} has no effect.`
    if (suggested !== undefined) findings.warn(place, message, hint(suggested))
    else for (const known of similarKey(name)) mistakes.push({ place, message, hint: hint(known) })
  }
  return { places, mistakes: mistakes.slice(0, MOST_MISTAKES) }
}

/** The line is not shown: it may be a key. */
const NO_VALUE = { message: 'This line has no "=", so it has no effect.', hint: 'Write DELTA_API_KEY=….' }

/** A file for something else may be full of what looks like one. */
const MOST_MISTAKES = 3

/** The key that `OPENAI_KEY` or `API_KEY` was probably meant as: too far from it for `nearestNames`. */
function similarKey(name: string): string[] {
  const bare = (text: string) => text.toUpperCase().replace(/_|API/g, '')
  const known = KNOWN_NAMES.find((each) => each.endsWith('_KEY') && bare(each).endsWith(bare(name)))
  return known !== undefined && bare(name).endsWith('KEY') ? [known] : []
}

/** False for a model that is not a server. */
function needsKey({ provider }: NonNullable<EnvironmentOptions['llm']> = { provider: 'openai' }): boolean {
  return provider === 'openai' || provider === 'anthropic'
}

/** The directory with `.git` at or above another one. */
function findProjectRoot(start: string): string | undefined {
  for (let directory = start; ; directory = dirname(directory)) {
    if (existsSync(join(directory, '.git'))) return directory
    if (directory === dirname(directory)) return undefined
  }
}

/** A setting, and where it stands. */
type Found = Pick<Source, 'of' | 'from' | 'digest' | 'isParents'> & {
  name: string
  value: string
  place: Finding
}

/** The order of the sources comes before that of the names. An empty value counts as missing. */
function firstOf(sources: readonly Source[], names: readonly string[]): Found | undefined {
  for (const source of sources) {
    const name = names.find((each) => source.values[each])
    const value = name && source.values[name]
    if (name && value) return { ...source, name, value, place: source.places[name] ?? { file: source.from } }
  }
  return undefined
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

/**
 * Refuses an address that the tools of a parent run may have written, unless its key stands beside it, or it is on this
 * machine and there is no key to send.
 */
function checkKeyStaysHome(url: Found, key: Found | undefined, findings: Findings): void {
  if (hasOwnKey(url, key) || (key === undefined && isLoopback(url.value))) return
  const message = `${url.name} would send a key from elsewhere to an address that a tool may have written here.`
  const hint = 'Put the key for that address into the .env beside it.'
  findings.error(url.place, message, url.from === '--set' ? undefined : hint)
}

/** True if the key stands in the same file; for `llm.base_url`, in the `.env` beside agent.yaml, unless that is a link out of there. */
function hasOwnKey(url: Found, key: Found | undefined): boolean {
  if (url.name !== LLM_BASE_URL) return key?.from === url.from
  const beside = join(dirname(url.from), '.env')
  return key?.from === beside && dirname(realPath(beside) ?? beside) === realPath(dirname(beside))
}

/** True for a URL whose host is this machine: `localhost`, names under it, 127.0.0.0/8, `[::1]`. */
function isLoopback(url: string): boolean {
  const { hostname = '', username = '' } = URL.canParse(url) ? new URL(url) : {}
  return username === '' && /^(?:(?:.*\.)?localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}

/** Undefined for an address of the agent's author or of the person. */
function endpointOf({ of, name, from: file, place, value, digest }: Found): WorkspaceEndpoint | undefined {
  if (of !== 'workspace' && of !== 'project') return undefined
  const line = place.line === undefined ? {} : { line: place.line }
  return { of, file, ...line, name, shownUrl: withoutQuery(value), digest }
}

async function isTrusted(
  endpoint: WorkspaceEndpoint,
  { trustWorkspaceEnv = false }: EnvironmentOptions,
): Promise<boolean> {
  return typeof trustWorkspaceEnv === 'function' ? trustWorkspaceEnv(endpoint) : trustWorkspaceEnv
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

/** One warning about an endpoint and a key that come from neither the agent nor the environment, and the key that is replaced. */
function warnOfOrigins(
  { key, url, replaced }: Record<'key' | 'url' | 'replaced', Found | undefined>,
  findings: Findings,
): void {
  const [endpoint, secret] = [url, key].map((found) =>
    found?.of === 'workspace' || found?.of === 'project' ? found : undefined,
  )
  const isReplaced = secret !== undefined && replaced !== undefined && replaced.value !== secret.value
  const instead = isReplaced ? `, in place of ${nameWithPlace(replaced)}` : ''
  if (endpoint) {
    const isOneFile = endpoint.from === secret?.from
    const verb = isOneFile ? 'and the key are' : 'is'
    const rest = secret && !isOneFile ? `, and the key is from ${secret.from}` : ''
    const message = `The model's endpoint ${withoutQuery(endpoint.value)} ${verb} from this file${rest}${instead}.`
    findings.warn(endpoint.place, message)
  } else if (secret) findings.warn(secret.place, `The model's key is from this file${instead}.`)
}

function nameWithPlace({ name, of, from }: Found): string {
  return of === 'environment' ? `${name} of the environment` : `${name} in ${from}`
}

function withoutQuery(address: string): string {
  const { origin, pathname } = new URL(address)
  return `${origin}${pathname}`
}
