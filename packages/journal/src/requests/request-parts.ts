import { createHash } from 'node:crypto'
import type { Parts } from './parts.js'
import { addToRanges, type Ranges } from './ranges.js'
import { splitRequest } from './request-text.js'

/** What a record holds of a request. */
export interface RecordedRequest {
  body: Buffer
  sha256: string
  parts: { parameters: number; messages: Ranges | null }
}

/**
 * Takes a request apart: each message, and the rest of the request, becomes a line of the parts log unless one holds it already.
 *
 * @param texts - See `splitRequest`.
 */
export function takeRequest(parts: Parts, request: object, texts?: readonly string[]): RecordedRequest {
  const { parameters, messages } = splitRequest(request, texts)
  const line = parts.lineOf('PARAMETERS', parameters)
  if (messages === undefined) return recorded(parameters, { parameters: line, messages: null })

  const lines: Ranges = []
  for (const text of messages.texts) addToRanges(lines, parts.lineOf('MESSAGE', text))
  const tail = parameters.slice(messages.head.length)
  return recorded(`${messages.head}${messages.texts.join(',')}${tail}`, { parameters: line, messages: lines })
}

function recorded(text: string, parts: RecordedRequest['parts']): RecordedRequest {
  const body = Buffer.from(text)
  return { body, sha256: createHash('sha256').update(body).digest('hex'), parts }
}
