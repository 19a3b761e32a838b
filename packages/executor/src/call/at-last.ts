import { variablesOf } from '../environment.js'
import type { RunnableCall } from '../prepare-call.js'
import { quoteForPerson } from '../quote.js'
import { missingPath, pathLeadingOut, probeSandbox } from '../sandbox.js'
import type { RunContext } from './run-context.js'
import { tokenInTask, tokensIn, withSecrets } from './secret-tokens.js'

/** What is started, or why nothing is. */
type Started = Pick<RunnableCall, 'argv' | 'stdin'> | { refusal: string }

/** What only the last moment tells: whether the sandbox can be had, and what entrusted values the call is about to be given. */
export async function atLast(
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
