import { type BindProblem, bindArguments } from '@delta/tool-expander'
import { isAgentCommand } from '../tool/agent-command.js'
import type { RunnableCall } from './prepare-call.js'

/** Entrusted values by the token that stands for each: `«secret:1-0»`. */
export type SecretTokens = Readonly<Record<string, string>>

const TOKEN = /«secret:[^»]{1,64}»/g

/** Puts entrusted values in the place of their tokens; a value is never searched for tokens itself. */
export function fillSecrets(text: string, tokens: SecretTokens): string {
  return text.replaceAll(TOKEN, (token) => tokens[token] ?? token)
}

/** Every token that a call would hand to its command. */
export function tokensIn({ argv, stdin = '' }: RunnableCall): string[] {
  return [...argv, stdin].flatMap((text) => text.match(TOKEN) ?? [])
}

/**
 * A token in the task of a sub-agent, which keeps its task: the value would stay in its records, and go to its provider.
 * What `delta continue` is told can be the answer to a sensitive question, and that is not kept.
 */
export function tokenInTask(call: RunnableCall, tokens: SecretTokens): string | undefined {
  const { command } = call.tool.expanded
  if (!isAgentCommand(command) || command[1] !== 'run') return undefined
  return tokensIn(call).find((token) => Object.hasOwn(tokens, token))
}

/**
 * What is wrong with the arguments once the values stand in them: the call was judged by its tokens, and no token begins with a dash.
 * Its `message` may quote a value.
 */
export function problemOfValues(
  { tool, args }: RunnableCall,
  tokens: SecretTokens,
  variables: { AGENT_HOME: string; CWD: string },
): BindProblem | undefined {
  const filled = Object.entries(args).map(([name, value]) => [name, fillValue(value, tokens)])
  const bound = bindArguments(tool.expanded, Object.fromEntries(filled), { variables })
  return bound.ok ? undefined : bound.reasons[0]
}

function fillValue(value: unknown, tokens: SecretTokens): unknown {
  if (Array.isArray(value)) return value.map((item) => fillValue(item, tokens))
  return typeof value === 'string' ? fillSecrets(value, tokens) : value
}
