import type { Agent } from '@delta/config-loader'
import { createRun, type RunsPlace } from '@delta/journal'
import { driveRun } from './drive-run.js'
import { releasing } from './finish.js'
import { modelFor } from './model.js'
import {
  type Allowed,
  checkDepth,
  checkWorkDirectory,
  type EngineOptions,
  guardCallbacks,
  maxIterationsFor,
  parentRun,
} from './options.js'
import type { RunResult } from './outcome.js'
import { engineStart } from './start/engine-start.js'

/** Which agent runs, where, and on what task. */
export interface RunAgentOptions extends EngineOptions, RunsPlace {
  /** As `loadAgent` of the config loader gave it. */
  agent: Agent
  /** Absolute path of the workspace; it must exist. Commands run here, and without a `runsDirectory` `.delta/` is kept here. */
  workDirectory: string
  /** The task: the first user message. */
  message: string
  /** Default: made from the time and a random part. */
  runId?: string | undefined
  /** What the person who starts the run allows: recorded for those who continue it, see `RunSummary.allowed`. */
  allowed?: Allowed | undefined
}

/**
 * Starts a new run of an agent and moves it until it ends or waits for a person.
 *
 * Nothing is written if the agent's model cannot be made. After that everything is in `.delta/<run_id>/` (or
 * `<runsDirectory>/<run_id>/`), and a
 * process that is killed at any moment can be succeeded by `continueRun`.
 *
 * @throws {EngineError} `ERR_ENGINE_NO_CREDENTIALS`, `ERR_ENGINE_TOO_DEEP` (too many agents have called one another),
 *   `ERR_ENGINE_USAGE`. {JournalError} `ERR_RUN_EXISTS`, `ERR_RUNS_DIRECTORY`, or when the workspace cannot be written.
 */
export async function runAgent(options: RunAgentOptions): Promise<RunResult> {
  const { agent, workDirectory, message } = options
  checkWorkDirectory(workDirectory)
  const maxIterations = maxIterationsFor(agent, options)
  const host = options.environment ?? process.env
  checkDepth(host)
  const modelOf = await modelFor(agent, options)

  const run = await createRun(workDirectory, {
    runsDirectory: options.runsDirectory,
    ...(options.runId === undefined ? {} : { runId: options.runId }),
    ...(options.sync === undefined ? {} : { sync: options.sync }),
    latest: !parentRun(host, workDirectory)?.isHere, // `delta continue` should find the run that called this one
    events: (created) => {
      options.onRun?.(created.directory)
      return [
        engineStart({ ...options, run: created, task: message, maxIterations, resumed: false }),
        { type: 'USER_MESSAGE', content: message },
      ]
    },
  })
  const drive = { ...options, ...guardCallbacks(options), modelOf, maxIterations, reply: undefined }
  return releasing(run, () => driveRun(run, drive))
}
