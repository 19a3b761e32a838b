import * as z from 'zod/mini'
import {
  type AssistantMessage,
  type ChatMessage,
  type ChatModel,
  type ChatRequest,
  type ToolCall,
  textOf,
} from './chat.js'
import { ModelError } from './errors.js'

/**
 * One answer of a scripted model. In its strings, `{{last_observation}}` is the newest tool result without its final newlines,
 * and `\{{last_observation}}` is the placeholder itself.
 */
export interface ScriptTurn {
  readonly content?: string | undefined
  /** Absent, with `content`: the final answer, which ends a run. */
  readonly tool_calls?: readonly ScriptedCall[] | undefined
}

/** Arguments that are a string are passed on as they are, so that a script can also send invalid JSON. */
export interface ScriptedCall {
  readonly name: string
  readonly arguments?: Readonly<Record<string, unknown>> | string | undefined
}

/** An example of two turns, for who wrote something else. */
export const SCRIPT_HINT =
  'A turn looks like this: { content: "Hello." } or { tool_calls: [{ name: read, arguments: { file: a.txt } }] }.'

/** A script as YAML or JSON has it: a list of turns. A message completes the sentence "must be …", but for that of a refinement. */
export const scriptSchema = /* @__PURE__ */ z.lazy(() => {
  const call = z.strictObject({
    name: z.string().check(z.minLength(1)),
    arguments: z.optional(
      z.union(
        [z.string(), z.record(z.string(), z.unknown())],
        'a mapping, or a string that is passed on as it is',
      ),
    ),
  })
  const turn = z
    .strictObject({
      content: z.optional(z.string()),
      tool_calls: z.optional(z.array(call)),
    })
    .check(z.refine((turn) => Object.keys(turn).length > 0, 'A turn needs content or tool_calls, or both.'))
  return z.array(turn).check(z.minLength(1))
})

/**
 * A model that answers with the turns of a list. The turn follows from the conversation in the request, and nothing is kept in
 * memory: an interrupted conversation goes on with the right turn, an extended one with the next. Call ids name the turn
 * (`turn-3-1`), so it is also found in a history that was cut at the front.
 *
 * @param options.path - The file with the turns; errors name it.
 * @returns A model whose `complete` throws `ERR_MODEL_SCRIPT_END` after the last turn.
 *
 * @example
 * const model = scriptModel([{ content: 'Hello.' }])
 * const { message } = await model.complete({ messages: [{ role: 'user', content: 'Hi' }] })
 */
export function scriptModel(
  turns: readonly ScriptTurn[],
  { path }: { path?: string | undefined } = {},
): ChatModel {
  return {
    async complete(request, { signal, onDelta } = {}) {
      if (signal?.aborted) throw new ModelError('ERR_MODEL_ABORTED', 'The request was stopped.')
      const number = nextTurn(request.messages)
      const turn = turns[number - 1]
      if (!turn) throw scriptEnd(turns, number, path)

      const message = speak(turn, number, (text) => fillIn(text, lastObservation(request)))
      if (message.content) onDelta?.({ content: message.content })
      return { message, finishReason: message.tool_calls ? 'tool_calls' : 'stop', raw: message }
    },
  }
}

/** The number of the turn that comes next. 1: the model has not spoken yet. */
function nextTurn(messages: readonly ChatMessage[]): number {
  const spoken = messages.filter((message) => message.role === 'assistant')
  const marks = spoken.map(
    ({ tool_calls = [] }) => tool_calls.flatMap(({ id }) => /^turn-(\d+)-\d+$/.exec(id)?.[1] ?? [])[0],
  )
  const last = marks.findLastIndex((mark) => mark !== undefined)
  return Number(marks[last] ?? 0) + spoken.length - last
}

function speak(turn: ScriptTurn, number: number, fill: (text: string) => string): AssistantMessage {
  const calls = (turn.tool_calls ?? []).map(
    (call, index): ToolCall => ({
      id: `turn-${number}-${index + 1}`,
      type: 'function',
      function: { name: call.name, arguments: argumentText(call, fill) },
    }),
  )
  return {
    role: 'assistant',
    content: turn.content === undefined ? null : fill(turn.content),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  }
}

function argumentText(call: ScriptedCall, fill: (text: string) => string): string {
  if (typeof call.arguments === 'string') return fill(call.arguments)
  const fillStrings = (_key: string, value: unknown) => (typeof value === 'string' ? fill(value) : value)
  return JSON.stringify(call.arguments ?? {}, fillStrings)
}

function fillIn(text: string, observation: string): string {
  return text.replaceAll(/\\?\{\{last_observation\}\}/g, (placeholder) =>
    placeholder.startsWith('\\') ? placeholder.slice(1) : observation,
  )
}

function lastObservation(request: ChatRequest): string {
  const observation = textOf(request.messages.findLast((message) => message.role === 'tool')?.content ?? '')
  return observation.replace(/\n+$/, '')
}

function scriptEnd({ length }: readonly ScriptTurn[], number: number, path: string | undefined): ModelError {
  const place = path === undefined ? '' : `${path}: `
  const turns = `${length} ${length === 1 ? 'turn' : 'turns'}`
  return new ModelError(
    'ERR_MODEL_SCRIPT_END',
    `${place}The script has ${turns}, and the conversation has come to turn ${number}. Add a turn: a script needs one for each answer of the model.`,
  )
}
