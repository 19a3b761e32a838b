import type { RunContext } from './call/run-context.js'
import { runPrepared } from './call/run-prepared.js'
import { CREDENTIAL_NAMES, credentialsOf, variablesOf } from './environment.js'
import { ExecutorError } from './errors.js'
import { type CallContext, prepareCall, type RunnableCall, type ToolCall } from './prepare-call.js'
import type { Tool } from './tool.js'
import { notRun, type ToolResult } from './tool-result.js'
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
