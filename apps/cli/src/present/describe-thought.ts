import type { Thought } from '@delta/journal'
import type { Detail } from './detail.js'
import { linesOf } from './indented.js'

/** What the model said, below the number of its iteration. */
export function describeThought(event: Thought, { style, verbose, tokens = verbose }: Detail): string[] {
  const number = `${event.iteration}.`
  const took = tokens ? style.dim(thoughtTokens(event)) : ''
  const [first = '', ...rest] = linesOf(event.content)
  return [
    `${style.dim(number)}${first === '' ? '' : ` ${style.bold(first)}`}${took}`,
    ...rest.map((line) => `   ${style.bold(line)}`),
  ]
}

/** ` (120 + 14 tokens)`: of the request, and of the answer; '' where the provider did not count. */
export function thoughtTokens({ usage }: Thought): string {
  if (usage?.prompt_tokens === undefined) return ''
  return ` (${usage.prompt_tokens} + ${usage.completion_tokens ?? 0} tokens)`
}
