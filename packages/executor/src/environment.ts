import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'

/** The keys of further providers, under the names their clients read. */
export const PROVIDER_KEYS: readonly string[] = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'AZURE_API_KEY',
  'AZURE_OPENAI_API_KEY',
  'CEREBRAS_API_KEY',
  'COHERE_API_KEY',
  'DEEPSEEK_API_KEY',
  'FIREWORKS_API_KEY',
  'GEMINI_API_KEY',
  'GOOGLE_API_KEY',
  'GOOGLE_GENERATIVE_AI_API_KEY',
  'GROQ_API_KEY',
  'MISTRAL_API_KEY',
  'OPENROUTER_API_KEY',
  'PERPLEXITY_API_KEY',
  'TOGETHER_AI_API_KEY',
  'TOGETHER_API_KEY',
  'XAI_API_KEY',
]

/** Every key of a model. A command gets one only if its `pass_env` lists it, or if it is `delta` itself. */
export const CREDENTIAL_NAMES: readonly string[] = ['DELTA_API_KEY', 'OPENAI_API_KEY', ...PROVIDER_KEYS]

/** The names of every key that an agent may use: the known ones, and that of its `llm.api_key_env`, also if that was overridden. */
export function keyNames({
  apiKeyEnv,
  otherKeyEnv,
}: {
  apiKeyEnv?: string | undefined
  otherKeyEnv?: string | undefined
} = {}): readonly string[] {
  return [...CREDENTIAL_NAMES, ...[apiKeyEnv, otherKeyEnv].filter((name) => name !== undefined)]
}

/** Whose key and address a sub-agent finds as `DELTA_API_KEY` and `DELTA_BASE_URL`: a provider's, or those of `api_key_env`. */
export function ownerOfKey({
  provider,
  apiKeyEnv,
}: {
  provider?: unknown
  apiKeyEnv?: string | undefined
} = {}) {
  return apiKeyEnv ?? (provider === 'anthropic' ? 'anthropic' : 'openai')
}

/** True within a run whose key another provider gave: an agent of this one may not send it. */
export function isKeyOfOther(
  { DELTA_KEY_FOR: owner }: NodeJS.ProcessEnv,
  llm?: Parameters<typeof ownerOfKey>[0],
): boolean {
  return owner !== undefined && owner !== '' && owner !== ownerOfKey(llm)
}

/** What the variables of a command say; `docs/reference/environment.md` lists them all. */
export interface EnvironmentOptions {
  /** The run the command belongs to. Without it, the variables of a run stay as `base` has them. */
  run?: RunVariables | undefined
  /** Engine credentials by name, besides those in `base`; withheld like those. */
  credentials?: Readonly<Record<string, string>> | undefined
  /**
   * Names of the credentials the command gets. With a key it also gets its address: with `X_API_KEY`, or another name for the same
   * value, `X_BASE_URL`. Default: none.
   */
  passEnv?: readonly string[] | undefined
  /** The command's argv. `delta run` and `delta continue` get every credential of `CREDENTIAL_NAMES`. */
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
  { run, credentials = {}, passEnv = [], command = [], extra = {} }: EnvironmentOptions = {},
): NodeJS.ProcessEnv {
  const withheld = { ...credentialsOf(base), ...credentials }
  const isDelta = startsDelta(command, { env: { ...base, ...extra }, trusted: base })
  // only names that a sub-agent withholds from its own commands
  const isOfDelta = (name: string) => CREDENTIAL_NAMES.includes(name) || name.endsWith('_URL')
  const isPassed = (name: string) => passEnv.includes(name) || (isDelta && isOfDelta(name))
  const keys = Object.entries(withheld).filter(([name]) => isPassed(name) && !name.endsWith('_URL'))
  // an address goes with its key: without it, a client would send the key to the provider's own
  const goesWithKey = (address: string) => {
    const own = withheld[address.replace(/_BASE_URL$/, '_API_KEY')]
    return address.endsWith('_URL') && keys.some(([, value]) => own === undefined || value === own)
  }
  const passed = Object.entries(withheld).filter(([name]) => isPassed(name) || goesWithKey(name))
  // an address of a provider is not a secret; the engine's own may be that of another provider
  const removed = Object.keys(withheld).filter(
    (name) => name === 'DELTA_BASE_URL' || !name.endsWith('_BASE_URL'),
  )
  const variables = {
    ...base,
    ...Object.fromEntries(removed.map((name) => [name, undefined])),
    ...(run && { ...variablesOfRun(run), DELTA_CALLS: callsAbove(base) }),
    ...Object.fromEntries(passed),
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
  return actionId && runDirectory ? above + callAbove(actionId, runDirectory) : base.DELTA_CALLS
}

/** One of the calls in `DELTA_CALLS`, which begins with a line end. */
export function callAbove(actionId: string, runDirectory: string): string {
  return `${actionId} ${runDirectory}\n`
}

/**
 * Picks credentials out of an environment.
 *
 * @param names - Default `CREDENTIAL_NAMES`.
 */
export function credentialsOf(
  environment: NodeJS.ProcessEnv,
  names: readonly string[] = CREDENTIAL_NAMES,
): Record<string, string> {
  const found = names.flatMap((name) => {
    const value = environment[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(found)
}

/** What to redact of credentials. An address (`…_URL`) is withheld together with its key, but is not secret. */
export function secretValues(credentials: Readonly<Record<string, string>>): string[] {
  return Object.entries(credentials).flatMap(([name, value]) => (name.endsWith('_URL') ? [] : [value]))
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

/** The variables of a tool, from the place where it runs. */
export function variablesOf({ cwd, env }: Place): Variables {
  return { AGENT_HOME: env.AGENT_HOME ?? cwd, CWD: cwd }
}

/** Both as absolute paths: a command would look for a relative one from where it runs. */
export function absolute({ AGENT_HOME, CWD }: Variables): Variables {
  return { AGENT_HOME: resolve(AGENT_HOME), CWD: resolve(CWD) }
}

/** Replaces the two variables in a text of a tool's settings. */
export function fillVariables(text: string, variables: Variables): string {
  return text.replaceAll(/\$\{(AGENT_HOME|CWD)\}/g, (_, name: keyof Variables) => variables[name])
}

/** A path of a tool's settings as an absolute one; a relative one starts at the workspace. */
export function settingsPath(text: string, variables: Variables): string {
  const filled = fillVariables(text, variables)
  return isAbsolute(filled) ? filled : resolve(variables.CWD, filled)
}
