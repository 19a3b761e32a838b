import { isAbsolute } from 'node:path'
import { AGENT_DEFAULTS, type Agent } from '@delta/config-loader'
import type { ChatModel } from '@delta/model'
import { EngineError } from '../errors.js'
import type { Question } from '../outcome.js'
import type { EngineEvent } from '../run-state.js'

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
  environment?: NodeJS.ProcessEnv | undefined
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
