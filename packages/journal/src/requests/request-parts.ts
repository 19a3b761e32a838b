import { createHash, type Hash } from 'node:crypto'
import { growingBytes } from './growing-bytes.js'
import type { Parts } from './parts.js'
import { addToRanges, fromRanges, type Ranges } from './ranges.js'
import { type RequestTexts, splitRequest } from './request-text.js'

/** What a record holds of a request. */
export interface RecordedRequest {
  body: Buffer
  sha256: string
  parts: { parameters: number; messages: Ranges | null }
}

/** The last request up to its last message, and what was found out about it. */
interface Beginning {
  head: string
  texts: string[]
  /** The lines of the parts log that hold them. */
  lines: Ranges
  /** Of the body so far, commas included. */
  hash: Hash
}

function linesByText({ texts, lines }: Beginning): Map<string, number> {
  const numbers = fromRanges(lines)
  return new Map(texts.map((text, index) => [text, numbers[index] as number]))
}

/**
 * Takes requests apart, one after the other.
 *
 * A request mostly begins with all of the one before. Then only what is new is looked
 * at: text is compared much faster than it is made or hashed.
 */
export function requestParts(parts: Parts) {
  const body = growingBytes()
  /** The lines of messages of the request before the last beginning: of a window that slides, most stay. */
  let earlier: ReadonlyMap<string, number> = new Map()
  let last: Beginning | undefined
  let parametersLine: { text: string; line: number } | undefined

  /** @param texts - See `splitRequest`. */
  function take(request: object, texts?: readonly string[]): RecordedRequest {
    const { parameters, messages } = splitRequest(request, texts)
    const line = lineOfParameters(parameters)
    if (messages === undefined) {
      const sha256 = createHash('sha256').update(parameters).digest('hex')
      return { body: Buffer.from(parameters), sha256, parts: { parameters: line, messages: null } }
    }
    last = withAdded(continued(messages) ?? begin(messages.head), messages.texts)
    const tail = parameters.slice(messages.head.length)
    const sha256 = last.hash.copy().update(tail).digest('hex')
    return { body: body.endingWith(tail), sha256, parts: { parameters: line, messages: last.lines } }
  }

  /** The last beginning, when this request has the same messages and perhaps more. */
  function continued({ head, texts }: NonNullable<RequestTexts['messages']>): Beginning | undefined {
    const goesOn =
      last?.head === head &&
      last.texts.length <= texts.length &&
      last.texts.every((text, index) => text === texts[index])
    return goesOn ? last : undefined
  }

  function withAdded(before: Beginning, texts: readonly string[]): Beginning {
    const added = texts.slice(before.texts.length)
    if (added.length === 0) return before
    const lines = added.map((text) => earlier.get(text) ?? parts.lineOf('MESSAGE', text)) // may throw, so nothing is changed before
    const text = `${before.texts.length > 0 ? ',' : ''}${added.join(',')}`
    before.hash.update(body.add(text))
    before.texts.push(...added)
    for (const line of lines) addToRanges(before.lines, line)
    return before
  }

  /** Forgets the last beginning, whose bytes lie where those of the new one will. */
  function begin(head: string): Beginning {
    if (last) earlier = linesByText(last)
    last = undefined
    body.clear()
    const hash = createHash('sha256').update(body.add(head))
    return { head, texts: [], lines: [], hash }
  }

  function lineOfParameters(text: string): number {
    if (parametersLine?.text !== text) parametersLine = { text, line: parts.lineOf('PARAMETERS', text) }
    return parametersLine.line
  }

  return { take }
}
