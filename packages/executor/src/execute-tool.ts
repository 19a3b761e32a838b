import { bindArguments } from '@delta/tool-expander'
import { credentialsOf, isAgentCommand, toolEnvironment, variablesOf } from './environment.js'
import { endOrphans } from './orphans.js'
import {
  type CallContext,
  limitedMatcher,
  prepareCall,
  type RunnableCall,
  type ToolCall,
} from './prepare-call.js'
import { runCommand } from './run-command.js'
import { findWorkingDirectory, sandboxProblem } from './sandbox.js'
import { type Tool, toolTimeoutMs } from './tool.js'
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

/** Where and with what a prepared call runs. */
export interface RunContext extends ResultContext {
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
  /** Tokens whose values are kept no longer. A call that names one is `BLOCKED`: the command would get the token itself. */
  erasedTokens?: ReadonlySet<string> | undefined
  /** Called as soon as the process exists, before it can have ended. */
  onSpawn?: ((process: { pid: number }) => void) | undefined
}

/** Where and how a tool runs that is called without an engine, and who is asked. */
export interface ExecuteContext extends RunContext, Pick<CallContext, 'runsDirectory'> {
  /** Default: `AGENT_HOME` of the environment (else the work directory), and the work directory. */
  variables?: CallContext['variables'] | undefined
  /**
   * Asks a person about a call the policy does not simply allow. Only `true` lets it run, for the text `no` must not pass for a
   * yes. Without it such calls are blocked.
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
 * @throws {ExecutorError} `ERR_EXECUTOR_USAGE`: the policy was not read by `parsePolicy`. Besides, what `confirm` throws.
 */
export async function executeTool(
  tools: ReadonlyMap<string, Tool>,
  call: ToolCall,
  context: ExecuteContext,
): Promise<ToolResult> {
  const { policy, runsDirectory, variables = variablesOf(context) } = context
  const prepared = prepareCall(tools, call, { policy, runsDirectory, variables })
  if (prepared.decision === 'refuse') return notRun(prepared.status, prepared.observation)
  const asks = prepared.decision === 'ask' && !context.signal?.aborted // nobody is asked about what will not run
  if (asks && (await context.confirm?.(prepared)) !== true) {
    const { reasons, tool } = prepared
    const observation = `BLOCKED: "${tool.expanded.name}" needs a person's approval (${reasons.join(', ')}), and it was not given. Nothing was run.`
    return notRun('BLOCKED', observation)
  }
  const credentials = context.credentials ?? credentialsOf(context.environment)
  return runPrepared(prepared, { ...context, credentials })
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
  const { actionId, outputPrefix, graceMs, signal, onSpawn, secrets = [], secretTokens = {} } = context
  const directory = findWorkingDirectory(tool, context)
  if ('refusal' in directory) return notRun('ERROR', `ERROR: ${directory.refusal} Nothing was run.`)

  const cwd = directory.path
  const env = toolEnvironment(tool, context, cwd)
  const refusal = await sandboxProblem(call, variablesOf(context), { cwd, env })
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
    timeoutMs: toolTimeoutMs(tool),
    maxOutputBytes: tool.settings.output.maxBytes,
    graceMs,
    signal,
    onSpawn,
    filter: isEntrusted ? redactors(tool.settings, context).known.filter : undefined,
  })
  const { DELTA_RUN_DIR: runDirectory } = context.environment
  // who left the group (`setsid`, a daemon) still carries the call in its environment; the group has had its grace by now
  if (STOPPED.has(outcome.status) && actionId !== undefined && runDirectory !== undefined)
    await endOrphans({ actionId, runDirectory }, { graceMs: ESCAPED_GRACE_MS })
  const result = toResult(outcome, tool, context)
  if (outputPrefix !== undefined && !context.keepOutput) removeInlined(outputPrefix, result)
  return result
}

const TOKEN = /«secret:[^»]{1,64}»/g

/**
 * The call with entrusted values in the place of their tokens. It is bound anew: it was judged by its tokens, no token begins
 * with a dash, and in JSON a value is written with its quotes and lines escaped. A problem's message may quote the value.
 */
function withSecrets(
  call: RunnableCall,
  { secretTokens: values = {}, erasedTokens }: RunContext,
): Pick<RunnableCall, 'argv' | 'stdin'> | { refusal: string } {
  const { tool, args, variables, sandbox = [] } = call
  const tokens = [...call.argv, call.stdin ?? ''].flatMap((text) => text.match(TOKEN) ?? [])
  const erased = tokens.find((token) => erasedTokens?.has(token) && !Object.hasOwn(values, token))
  if (erased !== undefined) return { refusal: `what ${erased} stood for has been erased. ${ASK_AGAIN}` }
  const known = tokens.find((token) => Object.hasOwn(values, token))
  if (known === undefined) return call
  // A sub-agent keeps its task, and sends it to its provider. What delta continue is told may be the answer to a sensitive question, which is not kept.
  const { command } = tool.expanded
  if (isAgentCommand(command) && command[1] === 'run') {
    const why = `a sub-agent records its task, and what ${known} stands for must not be recorded`
    return { refusal: `${why}. ${WITHOUT_VALUE}` }
  }
  const bound = bindArguments(tool.expanded, fillValue(args, values), {
    variables,
    matches: limitedMatcher(),
  })
  if (bound.ok) return { ...bound, argv: [...sandbox, ...bound.argv] }
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
