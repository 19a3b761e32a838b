import { type Answer, type AnswerMessage, type Dialect, type Fields, pieces, usageOf } from './dialect.js'

/** Chat completions. */
export const chatDialect: Dialect = {
  read: ({ messages }) => (Array.isArray(messages) ? messages : []),
  body(answer) {
    const choices = [{ index: 0, message: answer.message, finish_reason: answer.finishReason }]
    return { ...envelope(answer, 'chat.completion'), choices, ...usageOf(answer, countsOf(answer)) }
  },
  events(answer) {
    const chunk = (choices: object[], more: object = {}) =>
      `data: ${JSON.stringify({ ...envelope(answer, 'chat.completion.chunk'), choices, ...more })}\n\n`
    const deltas = deltasOf(answer.message).map((delta) => [{ index: 0, delta, finish_reason: null }])
    const isCounted = Object(answer.request.stream_options).include_usage && answer.usage !== null
    return [
      ...deltas.map((choices) => chunk(choices)),
      chunk([{ index: 0, delta: {}, finish_reason: answer.finishReason }]),
      ...(isCounted ? [chunk([], usageOf(answer, countsOf(answer)))] : []),
      'data: [DONE]\n\n',
    ]
  },
  error({ status, message, param = null, code = null }) {
    const type = status >= 500 ? 'server_error' : 'invalid_request_error'
    return { error: { message, type, param, code } }
  },
}

function envelope({ number, request: { model } }: Answer, object: string): Fields {
  return { id: `chatcmpl-${number}`, object, created: 1_700_000_000 + number - 1, model }
}

function countsOf({ counts: { input, output, reasoning } }: Answer): Fields {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    completion_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  }
}

function deltasOf({ content, tool_calls = [], role: _role, ...rest }: AnswerMessage): Fields[] {
  return [
    { role: 'assistant', content: content === null ? null : '' },
    ...Object.entries(rest).flatMap(([field, value]) => pieces(value).map((piece) => ({ [field]: piece }))),
    ...pieces(content ?? '').map((piece) => ({ content: piece })),
    ...tool_calls.flatMap((call, index) => {
      const { arguments: text, name } = call.function
      const opening = { ...call, index, function: { name, arguments: '' } }
      const further = pieces(text).map((piece) => ({ index, function: { arguments: piece } }))
      return [opening, ...further].map((delta) => ({ tool_calls: [delta] }))
    }),
  ]
}
