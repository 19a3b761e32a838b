import { basename, isAbsolute } from 'node:path'
import { AGENT_DEFAULTS, type Agent } from '@delta/config-loader'
import { commandEnvironment } from '@delta/executor'
import { CREDENTIAL_NAMES, credentialsOf } from '@delta/executor/internal'
import { workDirectoryOf } from '@delta/journal/internal'
import type { Run } from '@delta/journal/runs'
import type { ChatModel } from '@delta/model'
import { EngineError } from './errors.js'
import type { Question } from './outcome.js'
import type { EngineEvent } from './run-state.js'

/**
 * The model's key and address; see `loadEnvironment` of the config loader, which knows what overrides the agent's own
 * `llm.base_url`. Without a `baseUrl` that one is used.
 */
export interface Credentials {
  apiKey?: string | undefined
  baseUrl?: string | undefined
}

/** What `loadEnvironment` of the config loader found out about the environment. */
export interface SettingSources {
  /** Names of settings, each with its file or `environment`. Never the values. */
  origins: readonly { name: string; from: string }[]
  /** Digest of the workspace's `.env`, if its base URL is used: recorded in `RunSummary.allowed`. */
  workspaceEnvDigest?: string | undefined
}

/** What a person allows an agent for a whole run, by name. */
export interface Allowed {
  /** Absolute paths of directories that it may import files from. */
  importRoots?: readonly string[] | undefined
}

/** What starting and continuing a run have in common. */
export interface EngineOptions {
  /** The model; by default the one that `llm.provider` names. */
  model?: ChatModel | undefined
  /** Key and base URL of the model; see `loadEnvironment` of the config loader. */
  credentials?: Credentials | undefined
  /** Where settings came from (names and files, never values); recorded in `ENGINE_START`. */
  sources?: SettingSources | undefined
  /** The environment that the commands' own is made from. Default: `process.env`. */
  env?: NodeJS.ProcessEnv | undefined
  /** Cycles since the last user message before the run fails; over `max_iterations` of `agent.yaml`. Default 30. */
  maxIterations?: number | undefined
  /** Stops the run when aborted. Its reason goes into the journal, so give a signal's name. */
  signal?: AbortSignal | undefined
  /** False does not wait for the disk: faster, but a power cut may lose the last events. Default true. */
  sync?: boolean | undefined
  /**
   * Asks the person at the terminal; without it a question ends the run as `WAITING_FOR_INPUT`. It resolves to
   * the answer. Ask again until `isDecision` accepts it where the question has a `command`, where `always` allows its tool until
   * the call of `runAgent` or `continueRun` has ended, and until `isYesOrNo` does for any other `confirmation`. What it throws
   * leaves the question open, and the first error becomes a warning of Node.js.
   */
  ask?: ((question: Question) => Promise<string | undefined>) | undefined
  /**
   * Called with the directory of the run: by `runAgent` before the first event is written, so that a program that lists its
   * runs has listed it whenever it is killed; by `continueRun` once the event with which it goes on is written. What it throws
   * ends the engine and is rethrown.
   */
  onRun?: ((runDirectory: string) => void) | undefined
  /** True streams the model's words to `onEvent` as they come. */
  stream?: boolean | undefined
  /** Called synchronously, in order. What it throws never ends the run: the first error becomes a warning of Node.js. */
  onEvent?: ((event: EngineEvent) => void) | undefined
}

/** @throws {EngineError} `ERR_ENGINE_USAGE`: commands would run somewhere else after a change of directory. */
export function checkWorkDirectory(path: string): void {
  if (!isAbsolute(path))
    throw new EngineError('ERR_ENGINE_USAGE', `workDirectory ${path} is not an absolute path.`)
}

/** How many cycles a message may take. */
export function maxIterationsFor(agent: Agent, { maxIterations }: EngineOptions): number {
  return maxIterations ?? agent.maxIterations ?? AGENT_DEFAULTS.maxIterations
}

export interface Callbacks extends Pick<EngineOptions, 'ask'> {
  onEvent: NonNullable<EngineOptions['onEvent']>
}

/**
 * An `onEvent` and an `ask` that never throw, because neither may end a run. The first error of each becomes a warning of
 * Node.js with the code `DELTA_CALLBACK`. An `ask` that throws leaves its question open, as the end of input does.
 */
export function guardCallbacks({ onEvent, ask, signal }: EngineOptions): Callbacks {
  const reported = new Set<string>()
  function report(name: string, thrown: unknown): undefined {
    if (reported.has(name) || signal?.aborted) return // a stop also ends whoever waits for a person
    reported.add(name)
    const said = (thrown as Error)?.stack ?? thrown
    process.emitWarning(`The option ${name} threw, and the run goes on: ${said}`, { code: 'DELTA_CALLBACK' })
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

/** What commands are told about their run. */
interface RunPlace extends Pick<Run, 'runId' | 'directory' | 'workDirectory' | 'runsDirectory'> {
  paths: Pick<Run['paths'], 'journal'>
}

/** The environment that tools, hooks and generators share: the caller's without credentials, plus the base set. */
export function baseEnvironment(
  run: RunPlace,
  agentHome: string,
  host: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const isOfHook = host.DELTA_HOOK_IO_PATH !== undefined // otherwise, variables of these names are the user's own
  return commandEnvironment(host, {
    run: {
      agentHome,
      cwd: run.workDirectory,
      runId: run.runId,
      runDirectory: run.directory,
      journalPath: run.paths.journal,
    },
    extra: {
      ...(isOfHook && Object.fromEntries(OF_EVENT.map((name) => [name, undefined]))),
      DELTA_DEPTH: String(depthOf(host) + 1),
      ...(run.runsDirectory !== undefined && { DELTA_RUNS_DIR: run.runsDirectory }), // for sub-agents
    },
  })
}

/** What a hook learns of its event by. `DELTA_HOOK_IO_PATH` is not here: it identifies the processes that a hook leaves running. */
const OF_EVENT = ['ITERATION_COUNT', 'TOOL_NAME', 'TOOL_RESULT', 'ERROR_MESSAGE']

/** The run whose tool started this engine, if one did; `isHere` when both belong to the same workspace. */
export function parentRun(
  host: NodeJS.ProcessEnv,
  workDirectory: string,
): { runId: string; isHere: boolean } | undefined {
  const directory = host.DELTA_PARENT_RUN
  if (directory === undefined || directory === '') return undefined
  return { runId: basename(directory), isHere: workDirectoryOf(directory) === workDirectory }
}

/** Stops agents that call each other without end; nobody nests this deep on purpose. */
const DEEPEST = 16

/** @throws {EngineError} `ERR_ENGINE_TOO_DEEP`: too many agents have called one another. */
export function checkDepth(host: NodeJS.ProcessEnv): void {
  if (depthOf(host) < DEEPEST) return
  const message = `${DEEPEST} agents have called one another, and this would be one more. Does an agent call itself without end?`
  throw new EngineError('ERR_ENGINE_TOO_DEEP', message)
}

/** How many engines are above this one. */
function depthOf(host: NodeJS.ProcessEnv): number {
  const depth = Number(host.DELTA_DEPTH ?? 0)
  return Number.isInteger(depth) && depth > 0 ? depth : 0
}

/**
 * The engine's credentials under the names in which commands may ask for them. The key that the engine uses stands under
 * each name of a key, wherever it came from. A sub-agent gets them all.
 */
export function credentialVariables(
  host: NodeJS.ProcessEnv,
  { apiKey, baseUrl }: { apiKey?: string | undefined; baseUrl?: string | undefined } = {},
): Record<string, string> {
  return {
    ...credentialsOf(host),
    ...(apiKey === undefined ? {} : Object.fromEntries(CREDENTIAL_NAMES.map((name) => [name, apiKey]))),
    ...(baseUrl === undefined ? {} : { DELTA_BASE_URL: baseUrl }),
  }
}
