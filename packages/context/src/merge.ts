import type { ChatMessage, ContentPart } from '@delta/model'
import { textOf } from '@delta/model/internal'
import { messagesOf } from './conversation.js'
import { sourceName } from './manifest.js'
import { isEmpty, markEnd, partsOf } from './prompt-cache.js'
import { sizeMessage } from './size.js'
import type { Part } from './sources.js'

/** What a source has of the messages. */
export interface Share {
  /** First byte of a text in the UTF-8 text of its message. */
  from?: number
  /** The byte after its last one. */
  to?: number
  /** Its share of the size. */
  bytes: number
  /** Where its `prompt_cache` stands, and with which source it is in one message. */
  notes: (string | undefined)[]
}

/** Neighbouring sources of one role, whose texts become one message. One that was left out parts no others. */
export function neighbours(parts: readonly Part[]): Part[][] {
  const runs: Part[][] = []
  let role: string | undefined
  for (const part of parts) {
    const own = part.source.type === 'journal' ? 'journal' : part.groups[0]?.messages[0]?.message.role
    const isNeighbour = own === undefined || role === undefined || own === role
    const run = runs.at(-1)
    if (run && isNeighbour && own !== 'journal' && role !== 'journal') run.push(part)
    else runs.push([part])
    role = own ?? role
  }
  return runs
}

/** The messages of a conversation, or the one message of neighbouring texts, and the share of each source. */
export function messagesFor(run: readonly Part[]): { messages: ChatMessage[]; shares: Share[] } {
  const messages: ChatMessage[] = []
  let before: Part | undefined
  const shares = run.map((part): Share => {
    const own = markEnd(messagesOf(part.groups), part.source.promptCache)
    const bytes = own.messages.reduce((sum, sized) => sum + sized.bytes, 0)
    for (const { message } of own.messages) messages.push(message)
    if (own.messages.length === 0) return { bytes, notes: part.note === undefined ? [own.note] : [] }
    const inOne = before && `in one message with ${sourceName(before.source)}`
    before = part
    return { bytes, notes: [own.note, inOne] }
  })
  if (run[0]?.source.type === 'journal') return { messages, shares }
  const { message, ranges } = joinTexts(messages)
  const texts = shares.filter((_, index) => run[index]?.groups.length)
  for (const [index, share] of texts.entries()) Object.assign(share, ranges[index])
  return { messages: message ? [message] : [], shares }
}

/** The end of the JSON of a message: `"}` of a text, `]}` of parts. The last source has it. */
const CLOSING_BYTES = 2

/**
 * Joins texts into one message, with a blank line between two. It stays one text, unless it holds an image or a file, or a
 * cacheable prefix ends in it: then each source is a part of its own, and the blank line belongs to the earlier part.
 */
function joinTexts(own: readonly ChatMessage[]) {
  const isText = own.every(({ content, prompt_cache }) => typeof content === 'string' && !prompt_cache)
  let [message] = own
  let parts: ContentPart[] = []
  let end = 0
  const ranges = own.map((each, index) => {
    const next = partsOf(each)
    parts = withBlankLine(parts, next)
    const from = Buffer.byteLength(textOf(parts))
    parts = append(parts, next)
    if (own.length > 1) message = { role: each.role, content: isText ? textOf(parts) : parts } as ChatMessage
    const before = end
    end = sizeMessage(message ?? each).bytes - (index === own.length - 1 ? 0 : CLOSING_BYTES)
    return { from, to: Buffer.byteLength(textOf(parts)), bytes: end - before }
  })
  return { message, ranges }
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
