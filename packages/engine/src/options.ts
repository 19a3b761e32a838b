import { basename, isAbsolute } from 'node:path'
import type { Agent } from '@delta/config-loader'
import { AGENT_DEFAULTS } from '@delta/config-loader/internal'
import { commandEnvironment } from '@delta/executor'
import {
  type Credentials as AllCredentials,
  exportedIn,
  type Origin,
  type Pair,
} from '@delta/executor/internal'
import { workDirectoryOf } from '@delta/journal/internal'
import type { Run } from '@delta/journal/runs'
import type { ChatModel } from '@delta/model'
import type { PriceRow } from '@delta/model/prices'
import { vendorIdOf, vendorOfProvider } from '@delta/model/vendors'
import { EngineError } from './errors.js'
import { limitedBy } from './limits.js'
import type { Question } from './outcome.js'
import type { EngineEvent } from './run-state.js'
import { rootRunOf } from './tree.js'

/**
 * The model's API key and base URL, as `loadEnvironment` of `@delta/config-loader` finds them. `baseUrl` overrides the agent's
 * `llm.base_url`.
 */
export interface Credentials {
  apiKey?: string | undefined
  baseUrl?: string | undefined
  /** What was found of other vendors: for commands that list a key in `pass_env`, and for sub-agents. Default: nothing. */
  others?: readonly Pair[] | undefined
  /** Keys and addresses by their variables, likewise. Default: those in `env`. */
  exported?: Readonly<Record<string, string>> | undefined
  /** Where key and address came from: sub-agents name it. */
  origins?: readonly Origin[] | undefined
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

/** Prices of the person's own: lists of rows, by when they count. */
export interface Prices {
  /** Before those of the agent. */
  first?: readonly PriceRow[] | undefined
  /** After those of the agent, and before the shipped ones. */
  last?: readonly PriceRow[] | undefined
}

/** Options of `runAgent` and `continueRun`. */
export interface EngineOptions {
  /** Default: the model that `llm.provider` of the agent names. */
  model?: ChatModel | undefined
  /** Key and base URL of the model. */
  credentials?: Credentials | undefined
  /** Prices of the person's own, such as `readPrices` of `@delta/config-loader` gives them. */
  prices?: Prices | undefined
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
   * Called with the run's directory once this process owns it, before the first event is written: a program can list the run even
   * if it is killed then. An error that it throws ends the engine and is rethrown.
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
  agent: Pick<Agent, 'home' | 'llm' | 'limits'>,
  { env: host = process.env, credentials }: Pick<EngineOptions, 'env' | 'credentials'>,
): NodeJS.ProcessEnv {
  const { home: agentHome, llm } = agent
  const all = credentialsFor(llm, { env: host, credentials })
  // what the run above handed on by name is not what the person exported
  const handedOn = Object.entries(exportedIn(host)).filter(([name, value]) => all.env[name] !== value)
  const isOfHook = host.DELTA_HOOK_IO_PATH !== undefined // otherwise, the user set variables with these names
  return commandEnvironment(host, {
    credentials: all, // withheld
    run: {
      agentHome,
      cwd: run.workDirectory,
      runId: run.runId,
      runDirectory: run.directory,
      journalPath: run.paths.journal,
    },
    extra: {
      ...(isOfHook && Object.fromEntries(HOOK_EVENT_VARIABLES.map((name) => [name, undefined]))),
      ...Object.fromEntries(handedOn.map(([name]) => [name, undefined])),
      DELTA_DEPTH: String(depthOf(host) + 1),
      DELTA_ROOT_RUN: rootRunOf(run, host),
      DELTA_DEADLINE: undefined, // each command has its own
      ...limitedBy(run, agent, host),
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

/** Every key that the engine has. The first pair is that of the agent's model. */
export function credentialsFor(
  llm: Agent['llm'],
  { env: host = process.env, credentials = {} }: Pick<EngineOptions, 'env' | 'credentials'>,
): AllCredentials {
  const { apiKey, baseUrl = llm.baseUrl, others = [], origins } = credentials
  const { exported = exportedIn(host, [llm.apiKeyEnv, llm.otherKeyEnv]) } = credentials
  const vendor = vendorIdOf(llm)
  const isFound = apiKey !== undefined || baseUrl !== undefined
  const address = baseUrl ?? vendorOfProvider(llm.provider).url
  const own: Pair = isFound ? { vendor, key: apiKey, address, origins } : { vendor }
  return { pairs: [own, ...others], env: exported }
}
