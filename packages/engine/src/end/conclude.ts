import type { Thought } from '@delta/journal'
import type { Outcome } from '../outcome.js'

/** Why an answer is none, by the provider's `finish_reason`. */
const CUT_SHORT: Readonly<Record<string, string>> = {
  length:
    "the answer was cut off at the model's token limit; raise llm.max_tokens, or ask for the rest with a message",
  content_filter: "the provider's filter held the answer back",
}

/** Not a failure: an agent that has done its work by its tools may have nothing to add. */
const EMPTY = 'the answer is empty: the model sent neither text nor a tool call'

/** What a thought without calls means for the run: its answer, unless the provider says that it is not a whole one. */
export function conclude({ content, finish_reason: reason, message }: ConcludingThought): Outcome {
  const cutShort = CUT_SHORT[reason ?? '']
  if (cutShort !== undefined) {
    const partial = content.trim() === '' ? {} : { partialAnswer: content }
    return { status: 'FAILED', reason: `${cutShort} (finish_reason: ${reason})`, ...partial }
  }
  const { refusal } = Object(message) as { refusal?: unknown }
  if (content === '' && typeof refusal === 'string')
    return { status: 'FAILED', reason: `the model refused: ${refusal}` }
  return content.trim() === ''
    ? { status: 'COMPLETED', answer: content, reason: EMPTY }
    : { status: 'COMPLETED', answer: content }
}

type ConcludingThought = Pick<Thought, 'content' | 'finish_reason' | 'message'>
