import type { ChatMessage, Content, ContentPart } from '@delta/model'
import type { ContextSource } from './manifest.js'

/** `prompt_cache` of a source: absent, or how long the provider may cache what ends with it. */
type Mark = ContextSource['promptCache']

/** No part of it can carry a breakpoint. */
export const NO_PLACE = 'no prompt_cache: nothing in it can carry a breakpoint'

/**
 * Ends a cacheable prefix with the last place in a source's messages that can carry a breakpoint: no answer of the model, and
 * no empty text, which providers refuse. The note says where that is.
 */
export function markEnd(
  messages: readonly ChatMessage[],
  mark: Mark,
): { messages: ChatMessage[]; note?: string } {
  if (mark === undefined) return { messages: [...messages] }
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]
    const marked = message && markMessage(message, mark)
    if (marked === undefined) continue
    const isLast = index === messages.length - 1
    const where = isLast ? 'at its end' : `after message ${index + 1} of its ${messages.length}`
    return { messages: messages.with(index, marked), note: `${nameOf(mark)} ${where}` }
  }
  return { messages: [...messages], note: NO_PLACE }
}

/** What a note calls it. */
export function nameOf(mark: Mark): string {
  return mark === '1h' ? 'prompt_cache 1h' : 'prompt_cache'
}

function markMessage(message: ChatMessage, mark: Mark): ChatMessage | undefined {
  if (message.role === 'assistant') return undefined
  const { content } = message
  if (typeof content === 'string') return isEmpty(content) ? undefined : { ...message, prompt_cache: mark }
  const parts = markParts(content, mark)
  return parts && ({ ...message, content: parts } as ChatMessage)
}

/** Undefined if no part can carry a breakpoint. */
export function markParts(parts: readonly ContentPart[], mark: Mark): ContentPart[] | undefined {
  const index = parts.findLastIndex((part) => part.type !== 'text' || !isEmpty(part.text))
  const part = parts[index]
  return part && parts.with(index, { ...part, prompt_cache: mark })
}

export function isEmpty(text: string): boolean {
  return text.trim() === ''
}

export function partsOf(content: Content | null): readonly ContentPart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
}
