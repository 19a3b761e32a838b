import type { ChatMessage, ContentPart } from '@delta/model'
import { textOf } from '@delta/model/internal'
import { isEmpty, markParts, NO_PLACE, nameOf, partsOf } from './prompt-cache.js'
import { sizeMessage } from './size.js'
import type { Part } from './sources.js'

/** What a source has of the messages. */
export interface Share {
  /** Its own messages; none, if it is part of a merged one. */
  messages: readonly ChatMessage[]
  /** The range of its text in the UTF-8 text of its message. */
  from?: number
  to?: number
  /** Its share of the size. */
  bytes: number
  /** Where its `prompt_cache` stands. */
  note?: string | undefined
}

/** The end of the JSON of a message: `"}` of a text, `]}` of parts. The last source has it. */
const CLOSING_BYTES = 2

/**
 * Joins texts into one message, with a blank line between two. It stays one text, unless it holds an image or a file, or a
 * cacheable prefix ends in it: then each source is a part of its own, and the blank line belongs to the earlier part.
 */
export function joinTexts(sources: readonly Part[]): { message: ChatMessage; shares: Share[] } {
  const shares: Share[] = []
  const stages: ContentPart[][] = []
  let parts: ContentPart[] = []
  for (const { source, groups } of sources) {
    const own = partsOf(groups[0]?.messages[0]?.message.content ?? null)
    const marked = source.promptCache && markParts(own, source.promptCache)
    parts = withBlankLine(parts, own)
    const from = Buffer.byteLength(textOf(parts))
    parts = append(parts, marked ?? own)
    stages.push(parts)
    const note = source.promptCache && (marked ? `${nameOf(source.promptCache)} at its end` : NO_PLACE)
    shares.push({ messages: [], from, to: Buffer.byteLength(textOf(parts)), bytes: 0, note })
  }
  const isText = parts.every((part) => part.type === 'text' && part.prompt_cache === undefined)
  const role = sources[0]?.groups[0]?.messages[0]?.message.role
  const messageOf = (stage: readonly ContentPart[]) =>
    ({ role, content: isText ? textOf(stage) : stage }) as ChatMessage
  let before = 0
  for (const [index, share] of shares.entries()) {
    const closing = index === shares.length - 1 ? 0 : CLOSING_BYTES
    const end = sizeMessage(messageOf(stages[index] ?? [])).bytes - closing
    share.bytes = end - before
    before = end
  }
  return { message: messageOf(parts), shares }
}

/** Ends the last text with a blank line, if a text follows. */
function withBlankLine(parts: readonly ContentPart[], next: readonly ContentPart[]): ContentPart[] {
  const last = parts.at(-1)
  if (last?.type !== 'text' || next[0]?.type !== 'text') return [...parts]
  const blank = '\n\n'.slice(/\n{0,2}$/.exec(last.text)?.[0].length)
  return [...parts.slice(0, -1), { ...last, text: last.text + blank }]
}

/** Providers refuse an empty text, so one becomes the end of the part before it, or the beginning of the one behind it. */
function append(parts: readonly ContentPart[], [first, ...rest]: readonly ContentPart[]): ContentPart[] {
  const last = parts.at(-1)
  if (first === undefined) return [...parts]
  const isJoined =
    last?.type === 'text' && first.type === 'text' && (isEmpty(last.text) || isEmpty(first.text))
  if (!isJoined) return [...parts, first, ...rest]
  return [...parts.slice(0, -1), { ...last, ...first, text: last.text + first.text }, ...rest]
}
