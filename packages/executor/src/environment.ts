import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { SHARED_URL } from '@delta/model/vendors'
import {
  CREDENTIALS,
  type Credentials,
  cutCredentials,
  keyNamesOf,
  listedVariables,
  withExported,
} from './credentials.js'

/** What the variables of a command say; `docs/reference/environment.md` lists them all. */
export interface EnvironmentOptions {
  /** The run the command belongs to. Without it, the variables of a run stay as `base` has them. */
  run?: RunVariables | undefined
  /** The engine's keys, besides those in `base`; withheld like those. */
  credentials?: Credentials | undefined
  /** The variables of the keys that the command gets, each with its address: `X_BASE_URL` with `X_API_KEY`. Default: none. */
  passEnv?: readonly string[] | undefined
  /** The command's argv. `delta run` and `delta continue` get all credentials. */
  command?: readonly string[] | undefined
  /** Overrides everything else; undefined removes a variable. */
  extra?: NodeJS.ProcessEnv | undefined
}

/** The run that a command belongs to. A variable whose value is not given is removed: it is another run's. */
export interface RunVariables {
  /** `AGENT_HOME` and `DELTA_AGENT_HOME`; undefined for an agent without a directory. */
  agentHome: string | undefined
  /** `CWD` and `DELTA_CWD`. It does not set the directory in which the command starts. */
  cwd: string
  /** `DELTA_RUN_ID`. */
  runId?: string | undefined
  /** `DELTA_RUN_DIR`, `RUN_DIR` and `DELTA_PARENT_RUN`. */
  runDirectory?: string | undefined
  /** `JOURNAL_PATH`. */
  journalPath?: string | undefined
}

/**
 * Makes the environment of a command. It is the only place that withholds credentials: `base` without the engine's
 * credentials, with the variables of the run, the credentials the command may have, and `extra`.
 *
 * @example
 * commandEnvironment(process.env, { run: { agentHome, cwd }, passEnv: ['OPENAI_API_KEY'] })
 */
export function commandEnvironment(
  base: NodeJS.ProcessEnv,
  { run, credentials, passEnv = [], command = [], extra = {} }: EnvironmentOptions = {},
): NodeJS.ProcessEnv {
  const all = withExported(base, credentials)
  // an address of a vendor is not a secret; the shared one may be that of another vendor than the command's
  const withheld = [...keyNamesOf(all), SHARED_URL, CREDENTIALS]
  const isDelta = startsDelta(command, { env: { ...base, ...extra }, trusted: base })
  const handed = isDelta ? all : cutCredentials(passEnv, all)
  const variables = {
    ...base,
    ...Object.fromEntries(withheld.map((name) => [name, undefined])),
    ...(run && { ...variablesOfRun(run), DELTA_CALLS: callsAbove(base) }),
    ...listedVariables(passEnv, all),
    ...(handed && { [CREDENTIALS]: JSON.stringify(handed) }),
    ...extra,
  }
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined))
}

function variablesOfRun({ agentHome, cwd, runId, runDirectory, journalPath }: RunVariables) {
  return {
    AGENT_HOME: agentHome,
    DELTA_AGENT_HOME: agentHome,
    CWD: cwd,
    DELTA_CWD: cwd,
    DELTA_RUN_ID: runId,
    DELTA_RUN_DIR: runDirectory,
    RUN_DIR: runDirectory,
    DELTA_PARENT_RUN: runDirectory,
    JOURNAL_PATH: journalPath,
    DELTA_ACTION_ID: undefined,
    DELTA_IDEMPOTENCY_KEY: undefined,
  }
}

/**
 * The tool calls that this engine works for, if it is somebody's tool itself: its own and those above. Its commands are found
 * by them after a crash of this engine.
 */
function callsAbove(base: NodeJS.ProcessEnv): string | undefined {
  const { DELTA_ACTION_ID: actionId, DELTA_RUN_DIR: runDirectory, DELTA_CALLS: above = '\n' } = base
  return runDirectory ? above + callAbove(actionId || '-', runDirectory) : base.DELTA_CALLS // a hook of a run is no call
}

/** One of the calls in `DELTA_CALLS`, which begins with a line end. */
export function callAbove(actionId: string, runDirectory: string): string {
  return `${actionId} ${runDirectory}\n`
}

const AGENT_COMMANDS = new Set(['run', 'continue'])

/**
 * True when a command is by its name an agent of its own: `delta run` or `delta continue`, also with the absolute path of
 * `delta`, which may begin with a variable.
 */
export function isAgentCommand(command: readonly string[]): boolean {
  const [program = '', subcommand = ''] = command
  const named = program === 'delta' || (/^[/$]/.test(program) && program.endsWith('/delta'))
  return named && AGENT_COMMANDS.has(subcommand)
}

/**
 * True for `delta mcp call` by its bare name. It stays outside of the sandbox of its tool, whose words it gets in
 * `SERVER_SANDBOX`: the server that it reaches runs inside, and outlives the call.
 */
export function isServerCall([program, ...words]: readonly string[]): boolean {
  return program === 'delta' && words[0] === 'mcp' && words[1] === 'call'
}

/** The variable that tells `delta mcp call` how its server is confined: `{ prefix, settings }` as JSON. */
export const SERVER_SANDBOX = 'DELTA_SERVER_SANDBOX'

/**
 * True when a command starts the `delta` that the run's own `PATH` finds first, or the program that runs now. A model may have
 * written any other file of that name.
 */
function startsDelta(
  command: readonly string[],
  { env, trusted }: { env: NodeJS.ProcessEnv; trusted: NodeJS.ProcessEnv },
): boolean {
  if (!isAgentCommand(command)) return false
  const [program = ''] = command
  const started = isAbsolute(program) ? realPath(program) : program === 'delta' ? findDelta(env) : undefined
  return started !== undefined && [findDelta(trusted), realPath(process.argv[1])].includes(started)
}

/** The first `delta` on a PATH; undefined behind a relative directory, which leads to wherever a command starts. */
function findDelta({ PATH = '' }: NodeJS.ProcessEnv): string | undefined {
  const directories = PATH.split(':')
  const relative = directories.findIndex((directory) => !isAbsolute(directory))
  const trusted = relative < 0 ? directories : directories.slice(0, relative)
  return realPath(trusted.map((directory) => join(directory, 'delta')).find(isExecutable))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false // missing, or not executable for us: the system looks further, too
  }
}

function realPath(path: string | undefined): string | undefined {
  return path !== undefined && existsSync(path) ? realpathSync(path) : undefined
}

/** What `${AGENT_HOME}` and `${CWD}` stand for in a tool and its settings. */
export interface Variables {
  AGENT_HOME: string
  CWD: string
}

/** Where a tool runs. */
export interface Place {
  /** The workspace: where commands run, and what relative paths start at. */
  cwd: string
  /** The environment, as `commandEnvironment` makes it. */
  env: NodeJS.ProcessEnv
}

/** Also what `${TOOL_HOME}` stands for in one tool. */
export interface ToolVariables extends Variables {
  TOOL_HOME: string
}

/** The variables of every tool, from the place where it runs. */
export function variablesOf({ cwd, env }: Place): Variables {
  return { AGENT_HOME: env.AGENT_HOME ?? cwd, CWD: cwd }
}

/** The variables of a tool, all as absolute paths: a command would look for a relative one from where it runs. */
export function toolVariables(
  { home = '' }: { home?: string | undefined },
  { AGENT_HOME, CWD }: Variables,
): ToolVariables {
  return { AGENT_HOME: resolve(AGENT_HOME), CWD: resolve(CWD), TOOL_HOME: resolve(AGENT_HOME, home) }
}

/** Replaces the variables in a text of a tool's settings. */
export function fillVariables(text: string, variables: ToolVariables): string {
  const names = /\$\{(AGENT_HOME|CWD|TOOL_HOME)\}/g
  return text.replaceAll(names, (_, name: keyof ToolVariables) => variables[name])
}

/** A path of a tool's settings as an absolute one; a relative one starts at the workspace. */
export function settingsPath(text: string, variables: ToolVariables): string {
  const filled = fillVariables(text, variables)
  return isAbsolute(filled) ? filled : resolve(variables.CWD, filled)
}
