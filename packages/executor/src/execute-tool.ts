import { type BindResult, bindArguments } from '@delta/tool-expander'
import {
  CREDENTIAL_NAMES,
  credentialsOf,
  isAgentCommand,
  toolEnvironment,
  variablesOf,
} from './environment.js'
import { ExecutorError } from './errors.js'
import { endOrphans } from './orphans.js'
import type { Policy } from './policy.js'
import {
  type CallContext,
  limitedMatcher,
  prepareCall,
  type RunnableCall,
  type ToolCall,
} from './prepare-call.js'
import { quoteForPerson } from './quote.js'
import { runCommand } from './run-command.js'
import { findWorkingDirectory, missingPath, pathLeadingOut, probeSandbox } from './sandbox.js'
import { type Tool, toolTimeoutMs } from './tool.js'
import {
  keepBytes,
  notRun,
  outputPaths,
  redactors,
  removeInlined,
  type ToolResult,
  toResult,
} from './tool-result.js'

/** Where and how a tool runs that is called without an engine, and who is asked. */
export interface ExecuteContext extends RunContext, Pick<CallContext, 'runsDirectory'> {
  /** Default: `AGENT_HOME` of the environment (else the work directory), and the work directory. */
  variables?: CallContext['variables'] | undefined
  /**
   * Asks a person about a call the policy does not simply allow; `true` lets it run. Without it such calls are blocked.
   * What is neither true nor false is an error, for the text `no` must not pass for a yes.
   */
  confirm?: ((call: RunnableCall) => boolean | Promise<boolean>) | undefined
}

/**
 * The whole way of one tool call: look up, validate, policy, bind, run, redact, format.
 *
 * For programs without an engine; an engine journals between the steps, so it calls
 * `prepareCall` and `runPrepared` itself. There is a result for whatever a model can send.
 *
 * The engine's credentials (`CREDENTIAL_NAMES`) that are in `environment` reach no tool but one that lists them in
 * `pass_env`, and no observation; `credentials` names others.
 *
 * @throws {ExecutorError} `ERR_EXECUTOR_USAGE`: the policy was not read by `parsePolicy`, or `confirm` gave neither true nor false.
 *   Besides, what `confirm` throws.
 */
export async function executeTool(
  tools: ReadonlyMap<string, Tool>,
  call: ToolCall,
  context: ExecuteContext,
): Promise<ToolResult> {
  const { workDirectory, policy, runsDirectory, variables = variablesOf(context) } = context
  const prepared = prepareCall(tools, call, { workDirectory, policy, runsDirectory, variables })
  if (prepared.decision === 'refuse') return notRun(prepared.status, prepared.observation)
  const asks = prepared.decision === 'ask' && !context.signal?.aborted // nobody is asked about what will not run
  if (asks && !(await isConfirmed(prepared, context))) {
    const { reasons, tool } = prepared
    const observation = `BLOCKED: "${tool.expanded.name}" needs a person's approval (${reasons.join(', ')}), and it was not given. Nothing was run.`
    return notRun('BLOCKED', observation)
  }
  return runPrepared(prepared, withoutCredentials(context))
}

async function isConfirmed(call: RunnableCall, { confirm }: ExecuteContext): Promise<boolean> {
  const said: unknown = await confirm?.(call)
  if (said === undefined || typeof said === 'boolean') return said === true
  const message =
    'What the option confirm gave is neither true nor false.\nPass a function that gives one of them.'
  throw new ExecutorError('ERR_EXECUTOR_USAGE', message)
}

function withoutCredentials(context: ExecuteContext): ExecuteContext {
  const environment = { ...context.environment }
  for (const name of CREDENTIAL_NAMES) delete environment[name]
  return { ...context, environment, credentials: context.credentials ?? credentialsOf(context.environment) }
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
export async function runPrepared(call: RunnableCall, context: RunContext): Promise<ToolResult> {
  const { tool } = call
  const directory = findWorkingDirectory(tool, context)
  if (!directory.ok) return notRun('ERROR', `ERROR: ${directory.message} Nothing was run.`)

  const env = toolEnvironment(tool, context, directory.path)
  const started = await atLast(call, context, { cwd: directory.path, env })
  if ('refusal' in started) return notRun('BLOCKED', started.refusal)

  const { outputPrefix, graceMs, signal, onSpawn, secretTokens = {} } = context
  if (signal?.aborted) return notRun('INTERRUPTED', '[interrupted before it started; nothing was run]\n')
  const entrusted = [...(context.secrets ?? []), ...Object.values(secretTokens)]
  const { known } = redactors(tool.settings, context)
  const outcome = await runCommand(started.argv, {
    cwd: directory.path,
    env,
    ...(started.stdin !== undefined && { stdin: started.stdin }),
    ...(outputPrefix !== undefined && outputPaths(outputPrefix)),
    keepBytes: keepBytes(tool.settings),
    timeoutMs: toolTimeoutMs(tool),
    maxOutputBytes: tool.settings.output.maxBytes,
    ...(graceMs !== undefined && { graceMs }),
    ...(signal && { signal }),
    ...(onSpawn && { onSpawn }),
    ...(entrusted.length > 0 && { filter: known.filter }),
  })
  if (STOPPED.has(outcome.status)) await endEscaped(context)
  const result = toResult(outcome, tool, context)
  if (outputPrefix !== undefined && !context.keepOutput) removeInlined(outputPrefix, result)
  return result
}

/** Whoever left the group (`setsid`, a daemon) still carries the call in its environment; the group has had its grace by now. */
async function endEscaped({
  actionId,
  environment: { DELTA_RUN_DIR: runDirectory },
}: RunContext): Promise<void> {
  if (actionId !== undefined && runDirectory !== undefined)
    await endOrphans({ actionId, runDirectory }, { graceMs: ESCAPED_GRACE_MS })
}

/** Where and with what a prepared call runs. */
export interface RunContext {
  /** The workspace: where commands run, and what relative paths start at. */
  workDirectory: string
  /** The whole environment, as `commandEnvironment` makes it; the tool's own `env:` is laid over it. */
  environment: NodeJS.ProcessEnv
  /** Becomes `DELTA_ACTION_ID`, by which the process is found again after a crash. */
  actionId?: string | undefined
  /** `<directory>/<name>`: output goes to `<name>.stdout` and `.stderr` there. Without it nothing is kept. */
  outputPrefix?: string | undefined
  /** Leave the files of small outputs too, until the caller has stored the result: see `removeInlined`. */
  keepOutput?: boolean | undefined
  /** Ends the command, TERM first; the result is `INTERRUPTED`. */
  signal?: AbortSignal | undefined
  /** Time between TERM and KILL; default 2000. */
  graceMs?: number | undefined
  /** `executeTool` asks it whether the call may run; `runPrepared` only looks at its `redact`. */
  policy?: Policy | undefined
  /** The engine's credentials by name: not for the tool unless it lists them, and redacted (but not a `…_URL`). */
  credentials?: Readonly<Record<string, string>> | undefined
  /** Values a person entrusted to the run. While there are any, no output touches the disk unredacted. */
  secrets?: readonly string[] | undefined
  /** Such values by the token that stands for them (`«secret:1-0»`): put into argv and stdin at the last moment. */
  secretTokens?: SecretTokens | undefined
  /** Tokens whose values are kept no longer. A call that names one is `BLOCKED`: the command would get the token itself. */
  erasedTokens?: ReadonlySet<string> | undefined
  /** Called as soon as the process exists, before it can have ended. */
  onSpawn?: ((process: { pid: number }) => void) | undefined
}

/** What is started, or why nothing is. */
type Started = Pick<RunnableCall, 'argv' | 'stdin'> | { refusal: string }

/** What only the last moment tells: whether the sandbox can be had, and what entrusted values the call is about to be given. */
async function atLast(
  call: RunnableCall,
  context: RunContext,
  place: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<Started> {
  const { name } = call.tool.expanded
  const problem = await sandboxProblem(call, context, place)
  if (problem !== undefined)
    return blocked(`the sandbox of "${name}" cannot start, and without it the tool is not run. ${problem}`)
  const tokens = tokensIn(call)
  return tokens.length === 0 ? call : withValues(call, tokens, context)
}

function withValues(
  call: RunnableCall,
  tokens: readonly string[],
  { secretTokens = {}, erasedTokens }: RunContext,
): Started {
  const erased = tokens.find((token) => erasedTokens?.has(token) && !Object.hasOwn(secretTokens, token))
  if (erased !== undefined) return blocked(`what ${erased} stood for has been erased. ${ASK_AGAIN}`)
  const token = tokenInTask(call, secretTokens)
  if (token !== undefined)
    return blocked(
      `a sub-agent records its task, and what ${token} stands for must not be recorded. ${WITHOUT_VALUE}`,
    )
  const filled = withSecrets(call, secretTokens)
  if (filled.ok) return filled
  const [problem] = filled.reasons
  const why =
    problem?.code === 'ERR_ARGUMENT_DASH'
      ? 'begins with "-", and would be taken for an option'
      : 'is not what the parameter takes'
  return blocked(`the value behind the token in "${problem?.parameter}" ${why}. Nothing was run.`)
}

function blocked(why: string): Started {
  return { refusal: `BLOCKED: ${why}` }
}

const ASK_AGAIN =
  'Secrets are kept only until a run completes or fails. Nothing was run. Ask for the value again with ask_human.'

const WITHOUT_VALUE =
  'Nothing was run. Give it the task without the value; when it needs that, it can ask by an ask_human with sensitive: true, and is answered with delta continue, the token on stdin.'

async function sandboxProblem(
  { tool, sandbox }: RunnableCall,
  context: RunContext,
  place: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<string | undefined> {
  if (sandbox === undefined) return undefined
  const variables = variablesOf(context)
  const path = pathLeadingOut(tool, variables) // which the command before may have made
  if (path !== undefined) return `${path} is a link that leads out of the workspace.`
  const missing = missingPath(tool, variables)
  if (missing !== undefined)
    return `${missing} does not exist. Create it (mkdir -p ${quoteForPerson([missing])}), or remove it from sandbox.`
  return probeSandbox(sandbox, place)
}

/** Entrusted values by the token that stands for each: `«secret:1-0»`. */
type SecretTokens = Readonly<Record<string, string>>

const TOKEN = /«secret:[^»]{1,64}»/g

/** Every token that a call would hand to its command. */
function tokensIn({ argv, stdin = '' }: RunnableCall): string[] {
  return [...argv, stdin].flatMap((text) => text.match(TOKEN) ?? [])
}

/**
 * A token in the task of a sub-agent, which keeps its task: the value would stay in its records, and go to its provider.
 * What `delta continue` is told can be the answer to a sensitive question, and that is not kept.
 */
function tokenInTask(call: RunnableCall, tokens: SecretTokens): string | undefined {
  const { command } = call.tool.expanded
  if (!isAgentCommand(command) || command[1] !== 'run') return undefined
  return tokensIn(call).find((token) => Object.hasOwn(tokens, token))
}

/**
 * Binds a call anew with entrusted values in the place of their tokens: it was judged by its tokens, no token begins with a
 * dash, and in JSON a value is written with its quotes and lines escaped. The messages of a refusal may quote a value.
 */
function withSecrets(
  { tool, args, variables, sandbox = [] }: RunnableCall,
  tokens: SecretTokens,
): BindResult {
  const bound = bindArguments(tool.expanded, fillValue(args, tokens), {
    variables,
    matches: limitedMatcher(),
  })
  return bound.ok ? { ...bound, argv: [...sandbox, ...bound.argv] } : bound
}

/** A value is never searched for tokens itself. */
function fillValue(value: unknown, tokens: SecretTokens): unknown {
  if (typeof value === 'string') return value.replaceAll(TOKEN, (token) => tokens[token] ?? token)
  if (Array.isArray(value)) return value.map((item) => fillValue(item, tokens))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map((entry) => entry.map((part) => fillValue(part, tokens)))
  return Object.fromEntries(entries)
}
