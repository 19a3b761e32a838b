import { readParts, runPaths } from '@delta/journal/internal'
import type { ComparedRequest } from './cache-break.js'
import { arePartsReadable } from './request-record.js'
import type { SentRequest } from './sent-request.js'

/** What requests were made of: `io/parts.jsonl`, read once. Images and files stand in it by name. */
export interface RecordedParts {
  /** The lines of a request; undefined if its record does not say, or they are too large. */
  linesOf(request: SentRequest): RequestLines | undefined
  /** What a line holds. */
  part(line: number): unknown
  /** The body of a request, for comparing it with another one's; undefined if it is not recorded. */
  bodyOf(request: SentRequest): ComparedRequest | undefined
}

/** Which lines a request is made of. */
export interface RequestLines {
  /** The body without its conversation. */
  parameters: number
  messages: number[]
  /** The field of the conversation. */
  list: string
}

/** Opens what the requests of a run were made of. Nothing is read until it is asked for. */
export function recordedParts(runDirectory: string): RecordedParts {
  let parts: Map<number, unknown> | undefined
  let areReadable: boolean | undefined

  function part(line: number): unknown {
    parts ??= readParts(runPaths(runDirectory).parts)
    return parts.get(line)
  }

  function linesOf({ parts: ranges }: SentRequest): RequestLines | undefined {
    areReadable ??= arePartsReadable(runDirectory)
    if (!ranges || !areReadable) return undefined
    const { parameters, messages, list = 'messages' } = ranges
    return { parameters, messages: linesIn(messages ?? []), list }
  }

  function bodyOf(request: SentRequest): ComparedRequest | undefined {
    const lines = linesOf(request)
    if (lines === undefined || request.blocks.length === 0) return undefined
    const { parameters, messages, list } = lines
    const said = messages.map(part)
    if (!said.every((message) => message === Object(message))) return undefined // lines were lost
    return { ...Object(part(parameters)), [list]: said, blocks: request.blocks }
  }

  return { linesOf, part, bodyOf }
}

/** A long run has half a million of them: this is its inner loop. */
function linesIn(ranges: readonly (readonly [first: number, last: number])[]): number[] {
  const lines: number[] = []
  for (const [first, last] of ranges) for (let line = first; line <= last; line++) lines.push(line)
  return lines
}
