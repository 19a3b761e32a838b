import type { Thought } from '@delta/journal'
import type { Outcome } from '../outcome.js'

/** Why an answer is incomplete, by the provider's `finish_reason`. */
const CUT_SHORT: Readonly<Record<string, string>> = {
  length:
    "the answer was cut off at the model's token limit; raise llm.max_tokens, or ask for the rest with a message",
  content_filter: "the provider's filter held the answer back",
}

/** Not a failure: an agent whose tools did the work may have nothing to add. */
const EMPTY = 'the answer is empty: the model sent neither text nor a tool call'

/** How models begin a call in text when the server does not parse it. Not `\s*`, which is slow over many empty lines. */
const WRITTEN_CALL =
  /^[ \t]*(<tool_call>|<function=|\[TOOL_CALLS\]|<\|python_tag\|>|<\|tool_calls?_|<｜tool▁call|\{\s*"name":\s*"[\w-]+",\s*"(arguments|parameters)":)/m

const CALL_AS_TEXT =
  'the answer contains a tool call written as text, which was not run: the server did not recognise it. Its parser for tool calls may be switched off, or made for another model'

const CALL_MISSING = 'the server announced a tool call along with this text, but sent none'

/** What a thought without calls means for the run: it is the answer, unless the provider says that it is incomplete. */
export function conclude({ content, finish_reason: reason, message }: ConcludingThought): Outcome {
  const cutShort = CUT_SHORT[reason ?? '']
  if (cutShort !== undefined) {
    const partial = content.trim() === '' ? {} : { partialAnswer: content }
    return { status: 'FAILED', reason: `${cutShort} (finish_reason: ${reason})`, ...partial }
  }
  const { refusal } = Object(message) as { refusal?: unknown }
  if (content === '' && typeof refusal === 'string')
    return { status: 'FAILED', reason: `the model refused: ${refusal}` }
  const doubt = doubtOf(content, reason)
  return { status: 'COMPLETED', answer: content, ...(doubt === undefined ? {} : { reason: doubt }) }
}

function doubtOf(content: string, reason: string | undefined): string | undefined {
  if (content.trim() === '') return EMPTY
  if (WRITTEN_CALL.test(content)) return CALL_AS_TEXT
  return /call|tool/i.test(reason ?? '') ? `${CALL_MISSING} (finish_reason: ${reason})` : undefined
}

type ConcludingThought = Pick<Thought, 'content' | 'finish_reason' | 'message'>
