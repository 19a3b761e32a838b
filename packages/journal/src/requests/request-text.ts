/** The texts of a request's body that are worth keeping once. */
export interface RequestTexts {
  /** The body with an empty list in place of the messages. */
  parameters: string
  /** What stands in the body before the first message, and each message; undefined when there is no list of messages. */
  messages: { head: string; texts: readonly string[] } | undefined
}

/**
 * Takes a request apart into texts: with the messages in their place, and commas between them, they are its body.
 *
 * @param known - What `JSON.stringify` makes of each message, when the caller has it: a long conversation is then put
 *   together and not written out anew.
 */
export function splitRequest(request: object, known?: readonly string[]): RequestTexts {
  const { messages } = request as { messages?: unknown }
  if (!Array.isArray(messages)) {
    return { parameters: JSON.stringify(request), messages: undefined }
  }
  const texts = known ?? messages.map(messageText)
  const parameters = JSON.stringify({ ...request, messages: [] })
  const head = headOf(request)
  return { parameters, messages: { head, texts } }
}

/** Puts a body together again from what its parts were parsed to. */
export function joinRequest(parameters: object, messages: unknown[]): string {
  return JSON.stringify({ ...parameters, messages })
}

/** A message as it stands in a body. */
function messageText(message: unknown): string {
  return JSON.stringify(message) ?? 'null'
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
