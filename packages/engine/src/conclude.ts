import type { Thought } from '@delta/journal/runs'
import type { DoubtCode, FailureCode, Outcome } from './outcome.js'

/** What is wrong with an answer: its code, and the reason in words. */
type Fault<Code extends FailureCode = FailureCode> = [code: Code, reason: string]

/** Why an answer is incomplete, by the provider's `finish_reason`. */
const CUT_SHORT: Readonly<Record<string, Fault>> = {
  length: [
    'cut_off',
    "the answer was cut off at the model's token limit; raise llm.max_tokens, or ask for the rest with a message",
  ],
  content_filter: ['content_filter', "the provider's filter held the answer back"],
}

const EMPTY = 'the answer is empty: the model sent neither text nor a tool call'
const HINT = '. If that is right for this agent, set accept_empty: true in agent.yaml'

/** How models begin a call in text when the server does not parse it. Not `\s*`, which is slow over many empty lines. */
const WRITTEN_CALL =
  /^[ \t]*(<tool_call>|<function=|\[TOOL_CALLS\]|<\|python_tag\|>|<\|tool_calls?_|<｜tool▁call|\{\s*"name":\s*"[\w-]+",\s*"(arguments|parameters)":)/m

const CALL_AS_TEXT =
  'the answer contains a tool call written as text, which was not run: the server did not recognise it. Its parser for tool calls may be switched off, or made for another model'

const CALL_MISSING = 'the server announced a tool call along with this text, but sent none'

/**
 * What a thought without calls means for the run: it is the answer, unless it is incomplete or refused, or, without
 * `acceptEmpty`, is empty or has lost its tool call.
 */
export function conclude(thought: ConcludingThought, { acceptEmpty }: { acceptEmpty: boolean }): Outcome {
  const { content, iteration } = thought
  const doubt = doubtAbout(thought)
  const [reasonCode, reason] = incompleteness(thought) ?? (acceptEmpty ? undefined : doubt) ?? []
  if (reasonCode !== undefined && reason !== undefined) {
    const hint = reasonCode === 'empty_answer' ? HINT : ''
    const partial = content.trim() === '' ? {} : { partialAnswer: content }
    return { status: 'FAILED', reasonCode, reason: `${reason}${hint}`, iteration, ...partial }
  }
  if (doubt === undefined) return { status: 'COMPLETED', reasonCode: 'answered', answer: content }
  return { status: 'COMPLETED', reasonCode: doubt[0], answer: content, reason: doubt[1] }
}

function incompleteness({ content, finish_reason: reason, message }: ConcludingThought): Fault | undefined {
  const [code, why] = CUT_SHORT[reason ?? ''] ?? []
  if (code !== undefined) return [code, `${why} (finish_reason: ${reason})`]
  const { refusal } = Object(message) as { refusal?: unknown }
  const isRefused = content === '' && typeof refusal === 'string'
  return isRefused ? ['model_refused', `the model refused: ${refusal}`] : undefined
}

function doubtAbout({ content, finish_reason: reason }: ConcludingThought): Fault<DoubtCode> | undefined {
  if (content.trim() === '') return ['empty_answer', EMPTY]
  if (WRITTEN_CALL.test(content)) return ['unparsed_tool_call', CALL_AS_TEXT]
  const isAnnounced = /call|tool/i.test(reason ?? '')
  return isAnnounced ? ['missing_tool_call', `${CALL_MISSING} (finish_reason: ${reason})`] : undefined
}

type ConcludingThought = Pick<Thought, 'content' | 'iteration' | 'finish_reason' | 'message'>
