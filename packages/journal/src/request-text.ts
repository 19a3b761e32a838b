/** The texts of a request that are worth keeping once, and the whole. */
export interface RequestTexts {
  /** What `JSON.stringify` makes of the request. */
  body: string
  /** The body with an empty list in place of the messages. */
  parameters: string
  /** What stands in the body before the first message; undefined when there is no list of messages. */
  head: string | undefined
  messages: unknown[]
}

/** Turns a request into its body and what stands around the messages. */
export function splitRequest(request: object): RequestTexts {
  const body = JSON.stringify(request)
  const { messages } = request as { messages?: unknown }
  if (!Array.isArray(messages)) return { body, parameters: body, head: undefined, messages: [] }
  return { body, parameters: JSON.stringify({ ...request, messages: [] }), head: headOf(request), messages }
}

/** A message as it stands in a body. */
export function messageText(message: unknown): string {
  return JSON.stringify(message) ?? 'null'
}

/** Puts a body together again from what its parts were parsed to. */
export function joinRequest(parameters: object, messages: unknown[]): string {
  return JSON.stringify({ ...parameters, messages })
}

function headOf(request: object): string {
  const entries = Object.entries(request)
  const before = entries.slice(
    0,
    entries.findIndex(([key]) => key === 'messages'),
  )
  const text = JSON.stringify(Object.fromEntries(before))
  return text === '{}' ? '{"messages":[' : `${text.slice(0, -1)},"messages":[`
}
