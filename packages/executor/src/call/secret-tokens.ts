import { type BindResult, bindArguments } from '@delta/tool-expander'
import { isAgentCommand } from '../environment.js'
import type { RunnableCall } from '../prepare-call.js'
import { limitedMatcher } from '../prepare-call.js'

/** Entrusted values by the token that stands for each: `«secret:1-0»`. */
export type SecretTokens = Readonly<Record<string, string>>

const TOKEN = /«secret:[^»]{1,64}»/g

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
 * Binds a call anew with entrusted values in the place of their tokens: it was judged by its tokens, no token begins with a
 * dash, and in JSON a value is written with its quotes and lines escaped. The messages of a refusal may quote a value.
 */
export function withSecrets(
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
