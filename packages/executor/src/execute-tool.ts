import { type CallContext, prepareCall, type RunnableCall, type ToolCall } from './call/prepare-call.js'
import type { RunContext } from './call/run-context.js'
import { runPrepared } from './call/run-prepared.js'
import { CREDENTIAL_NAMES, credentialsOf } from './environment.js'
import { checkPolicy } from './policy/check-policy.js'
import { notRun, type ToolResult } from './result/tool-result.js'
import type { Tool } from './tool/define-tool.js'
import { variablesOf } from './tool/working-directory.js'
import {
  checkFunction,
  checkPath,
  checkSignal,
  checkTexts,
  checkTime,
  isObject,
  isText,
  requireThat,
} from './usage.js'

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
 * @throws {ExecutorError} `ERR_EXECUTOR_USAGE`: an argument or option cannot be used. Besides, what `confirm` throws.
 */
export async function executeTool(
  tools: ReadonlyMap<string, Tool>,
  call: ToolCall,
  context: ExecuteContext,
): Promise<ToolResult> {
  checkCall(tools, call, context)
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
  const isAnswer = said === undefined || typeof said === 'boolean'
  requireThat(isAnswer, 'executeTool: what the option confirm gave', 'a function that gives true or false')
  return said === true
}

function checkCall(tools: unknown, call: unknown, context: unknown): void {
  requireThat(tools instanceof Map, 'executeTool: the map of tools', 'what toolMap makes')
  requireThat(typeof Object(call).name === 'string', 'executeTool: the call', '{ name, arguments }')
  const { workDirectory, environment } = Object(context)
  requireThat(isText(workDirectory), 'executeTool: the option workDirectory', 'the directory to run in')
  requireThat(isObject(environment), 'executeTool: the option environment', 'process.env, or a part of it')
  checkPolicy('executeTool', Object(context).policy)
  const { signal, graceMs, secrets, outputPrefix, confirm, onSpawn } = Object(context)
  checkSignal('executeTool: the option signal', signal)
  checkTime('executeTool: the option graceMs', graceMs)
  if (secrets !== undefined) checkTexts('executeTool: the option secrets', secrets)
  if (outputPrefix !== undefined) checkPath('executeTool: the option outputPrefix', outputPrefix)
  checkFunction('executeTool: the option confirm', confirm)
  checkFunction('executeTool: the option onSpawn', onSpawn)
}

function withoutCredentials(context: ExecuteContext): ExecuteContext {
  const environment = { ...context.environment }
  for (const name of CREDENTIAL_NAMES) delete environment[name]
  return { ...context, environment, credentials: context.credentials ?? credentialsOf(context.environment) }
}
