import { variablesOf } from '../tool/working-directory.js'
import type { RunnableCall } from './prepare-call.js'
import type { RunContext } from './run-context.js'
import { pathLeadingOut } from './sandbox.js'
import { probeSandbox } from './sandbox-probe.js'
import { tokenInTask } from './secret-tokens.js'

/** What only the last moment tells: whether the sandbox can be had, and what entrusted values the call is about to be given. */
export async function refusalAtLast(
  call: RunnableCall,
  context: RunContext,
  place: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<string | undefined> {
  const { name } = call.tool.expanded
  const problem = await sandboxProblem(call, context, place)
  if (problem !== undefined)
    return `BLOCKED: the sandbox of "${name}" cannot start, and without it the tool is not run. ${problem}`
  const token = tokenInTask(call, context.secretTokens ?? {})
  return (
    token &&
    `BLOCKED: a sub-agent records its task, and what ${token} stands for must not be recorded. ${WAY_ON}`
  )
}

const WAY_ON =
  'Nothing was run. Give it the task without the value; when it needs that, it can ask by an ask_human with sensitive: true, and is answered with delta continue, the token on stdin.'

async function sandboxProblem(
  { tool, sandbox }: RunnableCall,
  context: RunContext,
  place: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<string | undefined> {
  if (sandbox === undefined) return undefined
  const path = pathLeadingOut(tool, variablesOf(context)) // which the command before may have made
  return path === undefined
    ? await probeSandbox(sandbox, place)
    : `${path} is a link that leads out of the workspace.`
}
