import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import type { ToolSettings } from './settings.js'

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
  const environment = without(base, options.credentials ?? CREDENTIAL_NAMES)
  for (const [name, value] of Object.entries({ ...baseSet(options), DELTA_CALLS: callsAbove(base) })) {
    if (value === undefined) delete environment[name]
    else environment[name] = value
  }
  return Object.assign(environment, options.extra)
}

function without(environment: NodeJS.ProcessEnv, names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !names.includes(name)))
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
  const found = Object.entries(environment).filter(
    ([name, value]) => names.includes(name) && value !== undefined,
  )
  return Object.fromEntries(found) as Record<string, string>
}

/**
 * The environment of one tool: the run's without the engine's credentials, those that the tool lists in `pass_env:` (all of
 * them when the tool is `delta` itself), and its own `env:`.
 */
export function toolEnvironment(
  { expanded, settings }: ToStart,
  context: Place & {
    credentials?: Readonly<Record<string, string>> | undefined
    actionId?: string | undefined
  },
  cwd: string,
): NodeJS.ProcessEnv {
  const { environment, credentials = {}, actionId } = context
  const variables = variablesOf(context)
  const own = Object.fromEntries(
    Object.entries(settings.env).map(([name, text]) => [name, fillVariables(text, variables)]),
  )
  const command = expanded.command.map((word) => fillVariables(word, variables))
  const mayHaveKeys =
    isAgentCommand(expanded.command) && // as it is written: by that the loader judges it
    startsDelta(command, { cwd, env: { ...environment, ...own }, trusted: environment })
  const passed = Object.entries(credentials).filter(
    ([name]) => mayHaveKeys || settings.passEnv.includes(name),
  )
  const withheld = [...CREDENTIAL_NAMES, ...Object.keys(credentials)]
  const place = actionId === undefined ? { PWD: cwd } : { PWD: cwd, DELTA_ACTION_ID: actionId }
  return { ...without(environment, withheld), ...Object.fromEntries(passed), ...own, ...place }
}

interface ToStart {
  expanded: { command: readonly string[] }
  settings: Pick<ToolSettings, 'env' | 'passEnv'>
}

const AGENT_COMMANDS = new Set(['run', 'continue'])

/**
 * True when a command is by its name an agent of its own: `delta run`, `delta continue`, also with `delta`'s whole path,
 * which may begin with a variable.
 */
export function isAgentCommand(command: readonly string[]): boolean {
  const [program = '', subcommand = ''] = command
  const named = program === 'delta' || (/^[/$]/.test(program) && program.endsWith('/delta'))
  return named && AGENT_COMMANDS.has(subcommand)
}

interface Start {
  cwd: string
  /** With which the command is started. */
  env: NodeJS.ProcessEnv
  /** The environment of the run, which nothing in the agent's files has changed. */
  trusted: NodeJS.ProcessEnv
}

/**
 * True when such a command starts `delta` itself, and may have the credentials: the `delta` that the run's own `PATH` finds
 * first, or the program that runs now. Another file of that name could be anybody's, a model's too.
 */
export function startsDelta(command: readonly string[], { cwd, env, trusted }: Start): boolean {
  if (!isAgentCommand(command)) return false
  const [program = ''] = command
  const ofCommand = (env.PATH ?? '').split(':').map((directory) => resolve(cwd, directory))
  const ofRun = (trusted.PATH ?? '').split(':').filter(isAbsolute)
  // what holds another variable is a relative path, and whatever file is there
  const started = isAbsolute(program) ? program : program === 'delta' ? findDelta(ofCommand) : undefined
  const real = realPath(started)
  return real !== undefined && [findDelta(ofRun), process.argv[1]].some((known) => realPath(known) === real)
}

function findDelta(directories: readonly string[]): string | undefined {
  return directories.map((directory) => join(directory, 'delta')).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false // missing, or not for us: the system looks further, too
  }
}

function realPath(path: string | undefined): string | undefined {
  return path !== undefined && existsSync(path) ? realpathSync(path) : undefined
}

export interface Variables {
  AGENT_HOME: string
  CWD: string
}

/** Puts the engine's own two variables into a text of a tool's settings. */
function fillVariables(text: string, variables: Variables): string {
  return text.replaceAll(/\$\{(AGENT_HOME|CWD)\}/g, (_, name: keyof Variables) => variables[name])
}

/** Both as absolute paths: a command would look for a relative one from where it runs. */
export function absolute({ AGENT_HOME, CWD }: Variables): Variables {
  return { AGENT_HOME: resolve(AGENT_HOME), CWD: resolve(CWD) }
}

/** A path of a tool's settings as an absolute one; relative ones start at the workspace. */
export function settingsPath(text: string, variables: Variables): string {
  const filled = fillVariables(text, variables)
  return isAbsolute(filled) ? filled : resolve(variables.CWD, filled)
}

export interface Place {
  workDirectory: string
  environment: NodeJS.ProcessEnv
}

/** The variables a tool's settings may use, taken from where the tool runs. */
export function variablesOf({ workDirectory, environment }: Place): Variables {
  return { AGENT_HOME: environment.AGENT_HOME ?? workDirectory, CWD: workDirectory }
}
