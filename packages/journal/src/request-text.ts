/** A request as the texts it is made of. */
export interface RequestTexts {
  /** The whole body. */
  body: string
  /** The body with an empty list in place of the messages. */
  parameters: string
  /** One JSON text per message; null when the request has no list of messages. */
  messages: string[] | null
}

/**
 * Turns a request into its body and the parts worth keeping once.
 *
 * The body is what `JSON.stringify` makes of it; each message is turned into text only once.
 */
export function splitRequest(request: object): RequestTexts {
  const { messages } = request as { messages?: unknown }
  if (!Array.isArray(messages)) {
    const body = JSON.stringify(request)
    return { body, parameters: body, messages: null }
  }
  const texts = messages.map((message) => JSON.stringify(message) ?? 'null')
  return { body: join(request, texts), parameters: join(request, []), messages: texts }
}

/** Puts a body together again from what its parts were parsed to. */
export function joinRequest(parameters: object, messages: unknown[]): string {
  return JSON.stringify({ ...parameters, messages })
}

/** Runs of consecutive numbers as pairs of first and last. */
export function toRanges(lines: number[]): [number, number][] {
  const ranges: [number, number][] = []
  for (const line of lines) {
    const last = ranges.at(-1)
    if (last && line === last[1] + 1) last[1] = line
    else ranges.push([line, line])
  }
  return ranges
}

export function fromRanges(ranges: readonly (readonly [number, number])[]): number[] {
  return ranges.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index),
  )
}

function join(request: object, messages: string[]): string {
  const fields: string[] = []
  for (const [key, value] of Object.entries(request)) {
    const text =
      key === 'messages' ? `[${messages.join(',')}]` : (JSON.stringify(value) as string | undefined)
    if (text !== undefined) fields.push(`${JSON.stringify(key)}:${text}`)
  }
  return `{${fields.join(',')}}`
}
