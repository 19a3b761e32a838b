import type { ChatModel, ChatRequest } from '../chat.js'
import { checkRequest } from '../check-request.js'
import { ModelError } from '../errors.js'
import { isObject } from '../is-object.js'
import { parseCompletion } from '../server/completion.js'
import { requireThat } from '../usage.js'
import { firstDifference } from './difference.js'
import { asSent, type Recording, type ReplayRecord, recordingOf } from './recording.js'

/**
 * A model that answers exactly the recorded requests. It never falls back: a request that was not recorded is an error
 * that names the first difference from the nearest recorded one.
 *
 * Streaming does not matter: `stream` and `stream_options` are not compared. Equal requests are answered by their records in
 * turn; nothing else is kept in memory, so an interrupted replay can go on in a new process.
 *
 * @param recorded - The exchanges, or a recording that is read piece by piece: a request when its turn comes, and of it
 *   only the messages that were not found equal before. A message must then not be changed after it was sent.
 */
export function replayModel(recorded: readonly ReplayRecord[] | Recording): ChatModel {
  checkRecorded(recorded)
  const recording = isRecording(recorded) ? recorded : recordingOf(recorded)
  const isSame = comparison(recording, { remember: isRecording(recorded) })
  const used = new Set<number>()
  let next = 0

  /** The next exchange with this request, else the last one that was used for it. */
  function find(request: ChatRequest): number | undefined {
    const turns = Array.from({ length: recording.length }, (_, turn) => (next + turn) % recording.length)
    const fitting = turns.filter((index) => recording.messageCount(index) === request.messages.length)
    return (
      fitting.find((index) => !used.has(index) && isSame(index, request)) ??
      fitting.findLast((index) => used.has(index) && isSame(index, request))
    )
  }

  return {
    async complete(request, options = {}) {
      checkRequest(request, options)
      const { signal, onDelta } = options
      if (signal?.aborted) throw new ModelError('ERR_MODEL_ABORTED', 'The request was stopped.')
      const index = find(request)
      if (index === undefined) throw notRecorded(recording, request)

      used.add(index)
      next = index + 1
      const answer = parseCompletion(recording.response(index))
      if (answer.message.content) onDelta?.({ content: answer.message.content })
      return answer
    },
  }
}

function checkRecorded(recorded: unknown): void {
  const isRecorded =
    Array.isArray(recorded) || (isObject(recorded) && typeof recorded.messageCount === 'function')
  requireThat(
    isRecorded,
    'replayModel: the list of records',
    'a list of { request, response }, or a Recording',
  )
}

function isRecording(recorded: readonly ReplayRecord[] | Recording): recorded is Recording {
  return !Array.isArray(recorded)
}

/** Compares requests with recorded ones; with `remember` a message is compared with the same part only once. */
function comparison(recording: Recording, { remember }: { remember: boolean }) {
  const equals = new WeakMap<object, number>()

  function isSameMessage(message: object, part: number): boolean {
    if (remember && equals.get(message) === part) return true
    if (firstDifference(recording.part(part), asSent(message))) return false
    equals.set(message, part)
    return true
  }

  return (index: number, request: ChatRequest): boolean => {
    const { parameters, messages } = recording.parts(index)
    return (
      !firstDifference(
        comparable(recording.part(parameters)),
        comparable(asSent(withoutMessages(request))),
      ) && request.messages.every((message, at) => isSameMessage(message, messages[at] ?? -1))
    )
  }
}

function withoutMessages({ messages: _messages, ...parameters }: ChatRequest): object {
  return parameters
}

function comparable(parameters: unknown): object {
  const { stream, stream_options, messages, ...rest } = Object(parameters) as Record<string, unknown>
  return rest
}

function notRecorded(recording: Recording, request: ChatRequest): ModelError {
  if (recording.length === 0)
    return new ModelError('ERR_MODEL_SCRIPT_END', 'The recording is empty, so nothing can be replayed.')

  const asked = asSent(request)
  const nearest = nearestTo(recording, asked)
  const { parameters, messages } = recording.parts(nearest)
  const difference = firstDifference(
    {
      ...comparable(recording.part(parameters)),
      messages: messages.map((part) => recording.part(part)),
    },
    { ...comparable(asked), messages: asked.messages },
  )
  return new ModelError(
    'ERR_MODEL_REPLAY_DIFFERS',
    `This request was not recorded. The nearest is request ${nearest + 1} of ${recording.length}; the first difference is at ` +
      `${difference?.path}:\n  recorded: ${difference?.left}\n  now:      ${difference?.right}\n` +
      `${adviceOn(difference?.path)}, or record the run again.`,
  )
}

/** Whoever replaces the recorded `llm` by `provider: replay` often loses the model and its parameters with it. */
function adviceOn(path = ''): string {
  return /^(messages|tools)\b/.test(path)
    ? 'Replay with the recorded files'
    : 'Keep the model and its parameters as recorded, beside provider: replay'
}

/** The exchange with the most messages in common from the start. Exchanges share parts; each is compared once at a position. */
function nearestTo(recording: Recording, { messages }: ChatRequest): number {
  const known = messages.map(() => new Map<number, boolean>())

  function isShared(part: number, at: number): boolean {
    const answer = known[at]?.get(part) ?? !firstDifference(recording.part(part), messages[at])
    known[at]?.set(part, answer)
    return answer
  }

  const shared = Array.from({ length: recording.length }, (_, index) => {
    const recorded = recording.parts(index).messages
    const end = recorded.findIndex((part, at) => at >= messages.length || !isShared(part, at))
    return end === -1 ? recorded.length : end
  })
  return shared.reduce((best, count, index) => (count > (shared[best] ?? 0) ? index : best), 0)
}
