import { bindArguments, type Matches } from '@delta/tool-expander'
import { withExported } from './credentials.js'
import {
  commandEnvironment,
  fillVariables,
  isAgentCommand,
  SERVER_SANDBOX,
  toolVariables,
  variablesOf,
} from './environment.js'
import { ExecutorError } from './errors.js'
import { endOrphans } from './orphans.js'
import { patternBudget } from './pattern-budget.js'
import { type CallContext, prepareCall, type RunnableCall, type ToolCall } from './prepare-call.js'
import { runCommand } from './run-command.js'
import type { Sandbox } from './sandbox.js'
import type { Tool } from './tool.js'
import {
  keepBytes,
  notRun,
  outputPaths,
  type ResultContext,
  redactors,
  removeInlined,
  type ToolResult,
  toResult,
} from './tool-result.js'
import { findWorkingDirectory } from './working-directory.js'

/** Where and with what a prepared call runs. */
export interface RunContext extends ResultContext {
  /** The whole environment, as `commandEnvironment` makes it; the tool's own `env:` overrides it. */
  env: NodeJS.ProcessEnv
  /** Becomes `DELTA_ACTION_ID`, by which the process is found again after a crash. */
  actionId?: string | undefined
  /** Becomes `DELTA_IDEMPOTENCY_KEY`: by it another system recognises the second attempt of a call. */
  idempotencyKey?: string | undefined
  /** `<directory>/<name>`: output goes to `<name>.stdout` and `.stderr` there. Without it nothing is kept. */
  outputPrefix?: string | undefined
  /** Keeps the files of small outputs, too, until the caller has stored the result: see `removeInlined`. */
  keepOutput?: boolean | undefined
  /** Ends the command, TERM first; the result is `INTERRUPTED`. */
  signal?: AbortSignal | undefined
  /** Time between TERM and KILL; default 2000. */
  graceMs?: number | undefined
  /** Compares entrusted values with patterns; see `prepareCall`. */
  matches?: Matches | undefined
  /** Tokens whose values are erased. A call that names one is `BLOCKED`: the command would get the token itself. */
  erasedTokens?: ReadonlySet<string> | undefined
  /** Called as soon as the process exists, before it can have ended. */
  onSpawn?: ((process: { pid: number }) => void) | undefined
}

/** Where and how a tool runs without an engine, and who confirms a call. */
export interface ExecuteContext extends RunContext, Pick<CallContext, 'runsDirectory' | 'imported'> {
  /**
   * Asks a person about a call that the policy does not simply allow. Only `true` runs it, so that the string `no` is not
   * taken for a yes. Without it such calls are blocked.
   */
  confirm?: ((call: RunnableCall) => boolean | Promise<boolean>) | undefined
}

/**
 * Does a whole tool call: look up, validate, policy, bind, run, redact, format. Whatever a model sends has a result.
 *
 * The engine's credentials in `env` and in `credentials` reach only a tool that lists them
 * in `pass_env`, and no observation.
 *
 * @throws {ExecutorError} `ERR_EXECUTOR_USAGE`: two tools have one name, or the policy was not read by `parsePolicy`. Also what
 *   `confirm` throws.
 *
 * @example
 * await executeTool([defineTool({ name: 'list', exec: 'ls' })], { name: 'list', arguments: '{}' }, { cwd, env: process.env })
 */
export async function executeTool(
  tools: readonly Tool[],
  call: ToolCall,
  context: ExecuteContext,
): Promise<ToolResult> {
  const { policy, runsDirectory, imported } = context
  const variables = variablesOf(context)
  const prepared = prepareCall(byName(tools), call, { policy, runsDirectory, imported, variables })
  if (prepared.decision === 'refuse') return notRun(prepared.status, prepared.observation)
  const asks = prepared.decision === 'ask' && !context.signal?.aborted // what will not run needs no answer
  if (asks && (await context.confirm?.(prepared)) !== true) {
    const { reasons, tool } = prepared
    const observation = `BLOCKED: "${tool.expanded.name}" needs a person's approval (${reasons.join(', ')}), and it was not given. Nothing was run.`
    return notRun('BLOCKED', observation)
  }
  return runPrepared(prepared, context)
}

function byName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const found = new Map(tools.map((tool) => [tool.expanded.name, tool]))
  if (found.size === tools.length) return found
  const names = tools.map(({ expanded }) => expanded.name)
  const twice = names.find((name, index) => names.indexOf(name) < index)
  const message = `Two tools are called "${twice}". A model could not tell them apart.`
  throw new ExecutorError('ERR_EXECUTOR_USAGE', message)
}

/** An engine that is stopped has 4 seconds, and the command's group may have used half of them. */
const ESCAPED_GRACE_MS = 250
/** How a command ends that was ended from here. */
const STOPPED: ReadonlySet<string> = new Set(['TIMEOUT', 'ABORTED', 'TOO_MUCH_OUTPUT'])

/**
 * Runs a call that `prepareCall` allowed, or a person approved.
 * Whatever the command does is a result.
 *
 * @throws What `onSpawn` throws, and the system's error when redacted output cannot be stored (`ENOSPC`).
 */
export async function runPrepared(call: RunnableCall, given: RunContext): Promise<ToolResult> {
  const { tool, serverSandbox } = call
  const context = { ...given, credentials: withExported(given.env, given.credentials) }
  const { actionId, outputPrefix, graceMs, signal, onSpawn, secrets = [], secretTokens = {} } = context
  const directory = findWorkingDirectory(tool, context)
  if ('refusal' in directory) return notRun('ERROR', `ERROR: ${directory.refusal} Nothing was run.`)

  const cwd = directory.path
  const env = {
    ...environmentOf(tool, context, cwd),
    ...(serverSandbox && { [SERVER_SANDBOX]: forServer(serverSandbox, tool) }),
  }
  const refusal = await (call.sandbox ?? serverSandbox)?.problem({ cwd, env })
  if (refusal !== undefined) return notRun('BLOCKED', `BLOCKED: ${refusal}`)
  const filled = withSecrets(call, context)
  if ('refusal' in filled) return notRun('BLOCKED', `BLOCKED: ${filled.refusal}`)
  if (signal?.aborted) return notRun('INTERRUPTED', '[interrupted before it started; nothing was run]\n')

  const isEntrusted = secrets.length + Object.keys(secretTokens).length > 0
  const outcome = await runCommand(filled.argv, {
    cwd,
    env,
    stdin: filled.stdin,
    ...(outputPrefix !== undefined && outputPaths(outputPrefix)),
    keepBytes: keepBytes(tool.settings),
    timeoutMs: tool.settings.timeoutMs,
    maxOutputBytes: tool.settings.output.maxBytes,
    graceMs,
    signal,
    onSpawn,
    filter: isEntrusted ? redactors(tool.settings, context).known.filter : undefined,
  })
  const { DELTA_RUN_DIR: runDirectory } = context.env
  // a process that left the group (`setsid`, a daemon) still carries the call in its environment; the group has had its grace
  if (STOPPED.has(outcome.status) && actionId !== undefined && runDirectory !== undefined)
    await endOrphans({ actionId, runDirectory }, { graceMs: ESCAPED_GRACE_MS })
  const result = toResult(outcome, tool, context)
  if (outputPrefix !== undefined && !context.keepOutput) removeInlined(outputPrefix, result)
  return result
}

/** The settings tell whether two calls want the same sandbox; the words may hide what has been made in between. */
function forServer({ prefix }: Sandbox, { settings }: Tool): string {
  return JSON.stringify({ prefix, settings: settings.sandbox })
}

/** The environment of a tool. The config loader judges whether it is an agent by its command as written, so that counts. */
function environmentOf(tool: Tool, context: RunContext, cwd: string): NodeJS.ProcessEnv {
  const { expanded, settings } = tool
  const { env, credentials, actionId, idempotencyKey } = context
  const variables = toolVariables(tool, variablesOf(context))
  const fill = (text: string) => fillVariables(text, variables)
  const own = Object.entries(settings.env).map(([name, text]) => [name, fill(text)])
  return commandEnvironment(env, {
    credentials,
    passEnv: settings.passEnv,
    command: isAgentCommand(expanded.command) ? expanded.command.map(fill) : [],
    extra: {
      ...Object.fromEntries(own),
      PWD: cwd,
      ...(actionId !== undefined && { DELTA_ACTION_ID: actionId }),
      ...(idempotencyKey !== undefined && { DELTA_IDEMPOTENCY_KEY: idempotencyKey }),
    },
  })
}

const TOKEN = /«secret:[^»]{1,64}»/g

/**
 * The call with entrusted values in the place of their tokens. It is bound anew: the checks saw tokens, which never begin with
 * a dash, and in JSON a value is escaped. The message of a bind problem may quote the value, so it is not used.
 */
function withSecrets(
  call: RunnableCall,
  { secretTokens: values = {}, erasedTokens, matches = patternBudget()() }: RunContext,
): Pick<RunnableCall, 'argv' | 'stdin'> | { refusal: string } {
  const { tool, args, variables, sandbox } = call
  const tokens = [...call.argv, call.stdin ?? ''].flatMap((text) => text.match(TOKEN) ?? [])
  const erased = tokens.find((token) => erasedTokens?.has(token) && !Object.hasOwn(values, token))
  if (erased !== undefined) return { refusal: `what ${erased} stood for has been erased. ${ASK_AGAIN}` }
  const known = tokens.find((token) => Object.hasOwn(values, token))
  if (known === undefined) return call
  // A sub-agent records its task and sends it to its provider. The message of `delta continue` may answer a sensitive question, which is not recorded.
  const { command } = tool.expanded
  if (isAgentCommand(command) && command[1] === 'run') {
    const why = `a sub-agent records its task, and what ${known} stands for must not be recorded`
    return { refusal: `${why}. ${WITHOUT_VALUE}` }
  }
  const bound = bindArguments(tool.expanded, fillValue(args, values), { variables, matches })
  if (bound.ok) return { ...bound, argv: [...(sandbox?.prefix ?? []), ...bound.argv] }
  const [problem] = bound.reasons
  const why =
    problem?.code === 'ERR_ARGUMENT_DASH'
      ? 'begins with "-", and would be taken for an option'
      : 'is not what the parameter takes'
  return { refusal: `the value behind the token in "${problem?.parameter}" ${why}. Nothing was run.` }
}

const ASK_AGAIN =
  'Secrets are kept only until a run completes or fails. Nothing was run. Ask for the value again with ask_human.'

const WITHOUT_VALUE =
  'Nothing was run. Give it the task without the value; when it needs that, it can ask by an ask_human with sensitive: true, and is answered with delta continue, the token on stdin.'

/** A value is never searched for tokens itself. */
function fillValue(value: unknown, values: Readonly<Record<string, string>>): unknown {
  if (typeof value === 'string') return value.replaceAll(TOKEN, (token) => values[token] ?? token)
  if (Array.isArray(value)) return value.map((item) => fillValue(item, values))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map((entry) => entry.map((part) => fillValue(part, values)))
  return Object.fromEntries(entries)
}
