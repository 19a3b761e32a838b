import { basename, isAbsolute } from 'node:path'
import type { Agent } from '@delta/config-loader'
import { AGENT_DEFAULTS } from '@delta/config-loader/internal'
import { commandEnvironment } from '@delta/executor'
import { credentialsOf, isKeyOfOther, keyNames, ownerOfKey } from '@delta/executor/internal'
import { workDirectoryOf } from '@delta/journal/internal'
import type { Run } from '@delta/journal/runs'
import type { ChatModel } from '@delta/model'
import { EngineError } from './errors.js'
import type { Question } from './outcome.js'
import type { EngineEvent } from './run-state.js'

/**
 * The model's API key and base URL, as `loadEnvironment` of `@delta/config-loader` finds them. `baseUrl` overrides the agent's
 * `llm.base_url`.
 */
export interface Credentials {
  apiKey?: string | undefined
  baseUrl?: string | undefined
  /** Keys and addresses of all providers by name, for commands that list them in `pass_env` and for sub-agents. */
  found?: Readonly<Record<string, string>> | undefined
}

/** Where settings come from, as `loadEnvironment` of `@delta/config-loader` reports it. */
export interface SettingSources {
  /** Names of settings, each with its file or `environment`; never values. */
  origins: readonly { name: string; from: string }[]
  /** Digest of the workspace's `.env`, if its base URL is used; recorded in `RunSummary.allowed`. */
  workspaceEnvDigest?: string | undefined
}

/** What a person allows an agent for a whole run. */
export interface Allowed {
  /** Absolute paths of directories that the agent may import files from. */
  importRoots?: readonly string[] | undefined
}

/** Options of `runAgent` and `continueRun`. */
export interface EngineOptions {
  /** Default: the model that `llm.provider` of the agent names. */
  model?: ChatModel | undefined
  /** Key and base URL of the model. */
  credentials?: Credentials | undefined
  /** Where settings came from; recorded in `ENGINE_START`. */
  sources?: SettingSources | undefined
  /** The environment from which that of commands is made. Default: `process.env`. */
  env?: NodeJS.ProcessEnv | undefined
  /** Maximum iterations after each user message. Overrides `max_iterations` of `agent.yaml`; default 30. */
  maxIterations?: number | undefined
  /** Stops the run when aborted. Its reason, such as `SIGINT`, goes into the journal. */
  signal?: AbortSignal | undefined
  /** False does not wait for the disk: faster, but a power failure may lose the last events. Default: true. */
  sync?: boolean | undefined
  /**
   * Asks a person, and resolves to the answer, or to undefined to leave the question open. Without `ask`, a question ends the run
   * as `WAITING_FOR_INPUT`.
   *
   * To a question with a `command`, `yes` or `y` approves, `always` also approves later calls of its tool until `runAgent` or
   * `continueRun` resolves, and any other answer is a no. An answer to another `confirmation` begins with yes, no, `y` or `n`: ask
   * again until it does. An error that it throws leaves the question open; the first one becomes a warning of Node.js.
   */
  ask?: ((question: Question) => Promise<string | undefined>) | undefined
  /**
   * Called with the run's directory: by `runAgent` before it writes the first event, so that a program can list the run even if it
   * is killed then; by `continueRun` after it has written its first event. An error that it throws ends the engine and is rethrown.
   */
  onRun?: ((runDirectory: string) => void) | undefined
  /** True passes the model's text to `onEvent` as it streams. Default: false. */
  stream?: boolean | undefined
  /** Called synchronously, in order. An error that it throws never ends the run; the first becomes a warning of Node.js. */
  onEvent?: ((event: EngineEvent) => void) | undefined
}

/** @throws {EngineError} `ERR_ENGINE_USAGE`: the path is relative, and would change with the process's directory. */
export function checkWorkDirectory(path: string): void {
  if (!isAbsolute(path))
    throw new EngineError('ERR_ENGINE_USAGE', `workDirectory ${path} is not an absolute path.`)
}

/** Maximum iterations after each user message. */
export function maxIterationsFor(agent: Agent, { maxIterations }: EngineOptions): number {
  return maxIterations ?? agent.maxIterations ?? AGENT_DEFAULTS.maxIterations
}

export interface Callbacks extends Pick<EngineOptions, 'ask'> {
  onEvent: NonNullable<EngineOptions['onEvent']>
}

/**
 * An `onEvent` and an `ask` that never throw, because neither may end a run. The first error of each becomes a warning of
 * Node.js with the code `DELTA_CALLBACK`. An `ask` that throws leaves its question open.
 */
export function guardCallbacks({ onEvent, ask, signal }: EngineOptions): Callbacks {
  const reported = new Set<string>()
  function report(name: string, thrown: unknown): undefined {
    if (reported.has(name) || signal?.aborted) return // a stop may also reject an open `ask`
    reported.add(name)
    const said = (thrown as Error)?.stack ?? thrown
    process.emitWarning(`The option ${name} threw; the run continues: ${said}`, { code: 'DELTA_CALLBACK' })
  }
  return {
    onEvent(event) {
      try {
        onEvent?.(event)
      } catch (error) {
        report('onEvent', error)
      }
    },
    ask:
      ask &&
      (async (question) => {
        try {
          return await ask(question)
        } catch (error) {
          return report('ask', error)
        }
      }),
  }
}

/** The facts about a run that its commands get. */
interface RunPlace extends Pick<Run, 'runId' | 'directory' | 'workDirectory' | 'runsDirectory'> {
  paths: Pick<Run['paths'], 'journal'>
}

/** The environment that tools, hooks and generators share: the caller's without credentials, plus the base set. */
export function baseEnvironment(
  run: RunPlace,
  { home: agentHome, llm }: Pick<Agent, 'home' | 'llm'>,
  { env: host = process.env, credentials }: Pick<EngineOptions, 'env' | 'credentials'>,
): NodeJS.ProcessEnv {
  const isOfHook = host.DELTA_HOOK_IO_PATH !== undefined // otherwise, the user set variables with these names
  return commandEnvironment(host, {
    credentials: credentialVariables(llm, { env: host, credentials }), // withheld
    run: {
      agentHome,
      cwd: run.workDirectory,
      runId: run.runId,
      runDirectory: run.directory,
      journalPath: run.paths.journal,
    },
    extra: {
      ...(isOfHook && Object.fromEntries(HOOK_EVENT_VARIABLES.map((name) => [name, undefined]))),
      ...ownerVariables(llm, { env: host, credentials }),
      DELTA_DEPTH: String(depthOf(host) + 1),
      ...(run.runsDirectory !== undefined && { DELTA_RUNS_DIR: run.runsDirectory }), // for sub-agents
    },
  })
}

/** The variables of a hook's event. Without `DELTA_HOOK_IO_PATH`, which identifies processes that a hook leaves running. */
const HOOK_EVENT_VARIABLES = ['ITERATION_COUNT', 'TOOL_NAME', 'TOOL_RESULT', 'ERROR_MESSAGE']

/** The run whose tool started this engine, if any; `isHere` when both are in the same workspace. */
export function parentRun(
  host: NodeJS.ProcessEnv,
  workDirectory: string,
): { runId: string; isHere: boolean } | undefined {
  const directory = host.DELTA_PARENT_RUN
  if (directory === undefined || directory === '') return undefined
  return { runId: basename(directory), isHere: workDirectoryOf(directory) === workDirectory }
}

/** Stops agents that call each other endlessly. */
const MAX_DEPTH = 16

/** @throws {EngineError} `ERR_ENGINE_TOO_DEEP`: `MAX_DEPTH` engines are above this one. */
export function checkDepth(host: NodeJS.ProcessEnv): void {
  if (depthOf(host) < MAX_DEPTH) return
  const message = `${MAX_DEPTH} agents have called one another, and one more is not allowed. Does an agent call itself endlessly?`
  throw new EngineError('ERR_ENGINE_TOO_DEEP', message)
}

/** How many engines are above this one. */
function depthOf(host: NodeJS.ProcessEnv): number {
  const depth = Number(host.DELTA_DEPTH ?? 0)
  return Number.isInteger(depth) && depth > 0 ? depth : 0
}

/**
 * The keys and addresses by the names that `pass_env` may list. The key that the agent uses has the names `DELTA_API_KEY` and that
 * of its provider, or of `api_key_env`, whatever its source. A sub-agent gets them all.
 */
export function credentialVariables(
  llm: Agent['llm'],
  { env: host = process.env, credentials = {} }: Pick<EngineOptions, 'env' | 'credentials'>,
): Record<string, string> {
  const { apiKey, baseUrl = llm.baseUrl, found } = credentials
  const { DELTA_API_KEY: shared, ...ofHost } = credentialsOf(host, keyNames(llm))
  const names = ownNames(llm)
  const addresses = names.map((name) => `${name}_BASE_URL`)
  // another address was found for another key, and a command must not send it this one
  const others = Object.entries(found ?? {}).filter(([name]) => !addresses.includes(name))
  return {
    ...ofHost,
    ...(shared !== undefined && !isKeyOfOther(host, llm) && { DELTA_API_KEY: shared }),
    ...(apiKey === undefined ? found : Object.fromEntries(others)),
    ...(apiKey !== undefined && Object.fromEntries(names.map((name) => [`${name}_API_KEY`, apiKey]))),
    ...(apiKey !== undefined && llm.apiKeyEnv !== undefined && { [llm.apiKeyEnv]: apiKey }),
    ...(baseUrl !== undefined && Object.fromEntries(addresses.map((name) => [name, baseUrl]))),
  }
}

/** The beginnings of the variables that hold the key and the address of the agent's model. */
function ownNames({ provider, apiKeyEnv }: Agent['llm']): string[] {
  if (apiKeyEnv !== undefined) return ['DELTA']
  return ['DELTA', provider === 'anthropic' ? 'ANTHROPIC' : 'OPENAI']
}

/**
 * Tells sub-agents whose the two `DELTA_` variables are, so that none of another provider sends that key, and which addresses are not
 * as the person set them: those are for the key beside them only. An address of the environment that was not found, as it is for
 * another key, is removed.
 */
function ownerVariables(
  llm: Agent['llm'],
  { env: host = {}, credentials = {} }: Pick<EngineOptions, 'env' | 'credentials'>,
): NodeJS.ProcessEnv {
  const { apiKey, baseUrl = llm.baseUrl, found } = credentials
  const known = credentialVariables(llm, { env: host, credentials })
  const isOther = (name: string) =>
    apiKey === undefined
      ? name === 'DELTA' && isKeyOfOther(host, llm)
      : host[`${name}_API_KEY`] !== apiKey && ownNames(llm).includes(name)
  const all = ['DELTA', 'OPENAI', 'ANTHROPIC']
  const addresses = (found ? all : all.filter(isOther)).map((name) => `${name}_BASE_URL`)
  const removed = addresses.filter((name) => known[name] === undefined).map((name) => [name, undefined])
  const changed = Object.keys(known).filter((name) => name.endsWith('_URL') && known[name] !== host[name])
  const ofRun = new Set([...(host.DELTA_URLS_OF_RUN?.split(' ') ?? []), ...changed])
  const isOfAll =
    !host.DELTA_KEY_FOR &&
    [undefined, host.DELTA_API_KEY].includes(apiKey) &&
    [undefined, host.DELTA_BASE_URL].includes(baseUrl)
  const isOwn = apiKey !== undefined || baseUrl !== undefined
  return {
    ...Object.fromEntries(removed),
    DELTA_URLS_OF_RUN: [...ofRun].join(' ') || undefined,
    ...(isOwn && { DELTA_KEY_FOR: isOfAll ? undefined : ownerOfKey(llm) }),
  }
}
