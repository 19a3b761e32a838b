import type { ChatModel, ChatRequest } from './chat.js'
import { parseCompletion } from './completion.js'
import { firstDifference } from './difference.js'
import { ModelError } from './errors.js'

/** One exchange of a recorded conversation. */
export interface ReplayRecord {
  /** The request, or the text of its body. */
  readonly request: ChatRequest | string
  /** What `ChatResponse.raw` held: a completion, or a bare assistant message. */
  readonly response: unknown
}

/**
 * A model that answers exactly the recorded requests. It never falls back: a request that was not recorded is an error
 * that names the first difference from the recorded request nearest to it.
 *
 * How an answer travels does not count: `stream` and `stream_options` are not compared. Of equal requests each is
 * answered by the next record; otherwise nothing is kept in memory, so an interrupted replay can go on in a new process.
 */
export function replayModel(records: readonly ReplayRecord[]): ChatModel {
  const known = records.map(({ request }) => comparable(request))
  const used = new Set<number>()

  return {
    async complete(request, { signal, onDelta } = {}) {
      if (signal?.aborted) throw new ModelError('ERR_MODEL_ABORTED', 'The request was stopped.')
      const asked = comparable(request)
      const matches = known.flatMap((recorded, index) => (equal(recorded, asked) ? [index] : []))
      const index = matches.find((match) => !used.has(match)) ?? matches.at(-1)
      const record = index === undefined ? undefined : records[index]
      if (index === undefined || !record) throw notRecorded(known, asked)

      used.add(index)
      const answer = parseCompletion(record.response)
      if (answer.message.content) onDelta?.({ content: answer.message.content })
      return answer
    },
  }
}

type Comparable = Record<string, unknown> & { messages: unknown[] }

function comparable(request: ChatRequest | string): Comparable {
  const parsed: ChatRequest =
    typeof request === 'string' ? JSON.parse(request) : JSON.parse(JSON.stringify(request))
  const { stream: _stream, stream_options: _options, ...rest } = parsed
  return rest
}

/** Records of a long run share most messages; comparing lengths first spares walking through all of them. */
function equal(recorded: Comparable, asked: Comparable): boolean {
  return recorded.messages.length === asked.messages.length && !firstDifference(recorded, asked)
}

function notRecorded(known: readonly Comparable[], asked: Comparable): ModelError {
  const shared = known.map(({ messages }) => sharedLength(messages, asked.messages))
  const nearest = shared.indexOf(Math.max(...shared))
  const recorded = known[nearest]
  if (!recorded)
    return new ModelError('ERR_MODEL_SCRIPT_END', 'The recording is empty, so nothing can be replayed.')

  const difference = firstDifference(recorded, asked)
  return new ModelError(
    'ERR_MODEL_REPLAY_DIFFERS',
    `This request was not recorded. The nearest is request ${nearest + 1} of ${known.length}; the first difference is at ` +
      `${difference?.path}:\n  recorded: ${difference?.left}\n  now:      ${difference?.right}\n` +
      'Replay with the recorded files, or record the run anew.',
  )
}

function sharedLength(left: readonly unknown[], right: readonly unknown[]): number {
  const end = left.findIndex((message, index) => firstDifference(message, right[index]))
  return end === -1 ? left.length : end
}
