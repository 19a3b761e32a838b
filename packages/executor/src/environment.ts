/** The engine's own credentials: no command finds them unless somebody says so. */
export const CREDENTIAL_NAMES: readonly string[] = ['DELTA_API_KEY', 'OPENAI_API_KEY']

/** What the variables of a command say; `docs/reference/environment.md` has them all. */
export interface EnvironmentOptions {
  /** `AGENT_HOME` and `DELTA_AGENT_HOME`. */
  agentHome: string
  /** `CWD` and `DELTA_CWD`. The directory the command starts in is not set by it. */
  workDirectory: string
  /** `DELTA_RUN_ID`. */
  runId?: string | undefined
  /** `DELTA_RUN_DIR`, `RUN_DIR` and `DELTA_PARENT_RUN`. */
  runDirectory?: string | undefined
  /** `JOURNAL_PATH`. */
  journalPath?: string | undefined
  /** `DELTA_ACTION_ID`. */
  actionId?: string | undefined
  /** Names taken out; default `CREDENTIAL_NAMES`. */
  credentials?: readonly string[] | undefined
  /** Laid over everything else. */
  extra?: Readonly<Record<string, string>> | undefined
}

/**
 * The environment of a command: the caller's, minus the engine's credentials, plus the base set.
 *
 * `DELTA_RUN_ID` is the id, `DELTA_RUN_DIR` and `RUN_DIR` the run's directory; `DELTA_PARENT_RUN`
 * tells an engine that was started as a tool whose tool it is. What is not known is not set, and
 * what the caller inherited under these names is removed, so that nobody takes it for their own.
 */
export function commandEnvironment(base: NodeJS.ProcessEnv, options: EnvironmentOptions): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = { ...base }
  for (const name of options.credentials ?? CREDENTIAL_NAMES) delete environment[name]
  for (const [name, value] of Object.entries({ ...baseSet(options), DELTA_CALLS: callsAbove(base) })) {
    if (value === undefined) delete environment[name]
    else environment[name] = value
  }
  return Object.assign(environment, options.extra)
}

function baseSet(options: EnvironmentOptions): Record<string, string | undefined> {
  const { agentHome, workDirectory, runId, runDirectory, journalPath, actionId } = options
  return {
    AGENT_HOME: agentHome,
    DELTA_AGENT_HOME: agentHome,
    CWD: workDirectory,
    DELTA_CWD: workDirectory,
    DELTA_RUN_ID: runId,
    DELTA_RUN_DIR: runDirectory,
    RUN_DIR: runDirectory,
    DELTA_PARENT_RUN: runDirectory,
    JOURNAL_PATH: journalPath,
    DELTA_ACTION_ID: actionId,
  }
}

/**
 * The calls that an engine, being somebody's tool, works for: its own and those above. By them its commands are found when
 * their engine is gone, too.
 */
function callsAbove(base: NodeJS.ProcessEnv): string | undefined {
  const { DELTA_ACTION_ID: actionId, DELTA_RUN_DIR: runDirectory, DELTA_CALLS: above = '\n' } = base
  return actionId && runDirectory ? above + callAbove(actionId, runDirectory) : base.DELTA_CALLS
}

/** One of the calls in `DELTA_CALLS`, which begins with a line end. */
export function callAbove(actionId: string, runDirectory: string): string {
  return `${actionId} ${runDirectory}\n`
}

/**
 * Picks the engine's credentials out of an environment, as `runPrepared` wants them.
 *
 * @param names - Default `CREDENTIAL_NAMES`.
 */
export function credentialsOf(
  environment: NodeJS.ProcessEnv,
  names: readonly string[] = CREDENTIAL_NAMES,
): Record<string, string> {
  const found = names.map((name) => [name, environment[name]] as const)
  return Object.fromEntries(found.filter((entry): entry is [string, string] => entry[1] !== undefined))
}
