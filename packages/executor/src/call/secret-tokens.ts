import { isAgentCommand } from '../tool/agent-command.js'
import type { RunnableCall } from './prepare-call.js'

/** Entrusted values by the token that stands for each: `«secret:1-0»`. */
export type SecretTokens = Readonly<Record<string, string>>

const TOKEN = /«secret:[^»]{1,64}»/g

/** Puts entrusted values in the place of their tokens; a value is never searched for tokens itself. */
export function fillSecrets(text: string, tokens: SecretTokens): string {
  return text.replaceAll(TOKEN, (token) => tokens[token] ?? token)
}

/**
 * A token in the task of a sub-agent, which keeps its task: the value would stay in its records, and go to its provider.
 * What `delta continue` is told can be the answer to a sensitive question, and that is not kept.
 */
export function tokenInTask(
  { tool, argv, stdin = '' }: RunnableCall,
  tokens: SecretTokens,
): string | undefined {
  const { command } = tool.expanded
  if (!isAgentCommand(command) || command[1] !== 'run') return undefined
  const named = [...argv, stdin].flatMap((text) => text.match(TOKEN) ?? [])
  return named.find((token) => Object.hasOwn(tokens, token))
}
