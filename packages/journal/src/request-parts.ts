import { createHash, type Hash } from 'node:crypto'
import type { Parts } from './parts.js'
import { type Ranges, toRanges } from './ranges.js'
import { messageText, splitRequest } from './request-text.js'

/** What a record holds of a request. */
export interface RecordedRequest {
  body: string
  sha256: string
  parts: { parameters: number; messages: Ranges | null }
}

/** The beginning of the last request, up to its last message, and what was found out about it. */
interface Beginning {
  text: string
  lines: number[]
  hash: Hash
}

/**
 * Takes requests apart, one after the other.
 *
 * A request mostly begins with all of the one before. Then only what is new is looked
 * at: text is compared much faster than it is made or hashed.
 */
export function requestParts(parts: Parts) {
  let last: Beginning | undefined
  let parametersLine: { text: string; line: number } | undefined

  function take(request: object): RecordedRequest {
    const { body, parameters, head, messages } = splitRequest(request)
    const line = lineOfParameters(parameters)
    if (head === undefined) {
      return {
        body,
        sha256: digest(createHash('sha256').update(body)),
        parts: { parameters: line, messages: null },
      }
    }
    last = continues(body, messages.length) ?? {
      text: head,
      lines: [],
      hash: createHash('sha256').update(head),
    }
    last = withMessages(last, messages.slice(last.lines.length))
    const sha256 = digest(last.hash.copy().update(body.slice(last.text.length)))
    return { body, sha256, parts: { parameters: line, messages: toRanges(last.lines) } }
  }

  /** The last beginning, when this body begins with it and goes on with another message or none. */
  function continues(body: string, messages: number): Beginning | undefined {
    if (last === undefined || last.lines.length === 0 || messages < last.lines.length) return undefined
    const next = body[last.text.length]
    return (next === ',' || next === ']') && body.startsWith(last.text) ? last : undefined
  }

  function withMessages({ text, lines, hash }: Beginning, messages: unknown[]): Beginning {
    const texts = messages.map(messageText)
    const added = `${lines.length > 0 && texts.length > 0 ? ',' : ''}${texts.join(',')}`
    const known = texts.map((each) => parts.lineOf('MESSAGE', each))
    return { text: text + added, lines: [...lines, ...known], hash: hash.copy().update(added) }
  }

  function lineOfParameters(text: string): number {
    if (parametersLine?.text !== text) parametersLine = { text, line: parts.lineOf('PARAMETERS', text) }
    return parametersLine.line
  }

  return { take }
}

function digest(hash: Hash): string {
  return hash.digest('hex')
}
