import { basename } from 'node:path'
import { CREDENTIAL_NAMES, commandEnvironment, credentialsOf } from '@delta/executor'
import { type Run, workDirectoryOf } from '@delta/journal/runs'
import { EngineError } from '../errors.js'

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
  return commandEnvironment(withoutEvent(host), {
    agentHome,
    workDirectory: run.workDirectory,
    runId: run.runId,
    runDirectory: run.directory,
    journalPath: run.paths.journal,
    extra: {
      DELTA_DEPTH: String(depthOf(host) + 1),
      ...(run.runsDirectory !== undefined && { DELTA_RUNS_DIR: run.runsDirectory }), // for sub-agents
    },
  })
}

/**
 * Leaves out the variables by which a hook learns of its event, if a hook started this engine. `DELTA_HOOK_IO_PATH` stays:
 * it identifies the processes that the hook leaves running.
 */
function withoutEvent(host: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (host.DELTA_HOOK_IO_PATH === undefined) return host // no hook: variables of these names are the user's own
  return Object.fromEntries(Object.entries(host).filter(([name]) => !OF_EVENT.includes(name)))
}

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
