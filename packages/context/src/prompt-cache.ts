import type { ChatMessage, ContentPart } from '@delta/model'
import type { ContextSource } from './manifest.js'
import { type SizedMessage, sizeMessage } from './size.js'

/** `prompt_cache` of a source: absent, or how long the provider may cache what ends with it. */
type Mark = ContextSource['promptCache']

/**
 * Ends a cacheable prefix with the last place in a source's messages that can carry a breakpoint: no answer of the model, and
 * no empty text, which providers refuse. The note says where that is.
 */
export function markEnd(
  own: readonly SizedMessage[],
  mark: Mark,
): { messages: readonly SizedMessage[]; note?: string } {
  if (mark === undefined) return { messages: own }
  for (let index = own.length - 1; index >= 0; index--) {
    const sized = own[index]
    const marked = sized && markMessage(sized.message, mark)
    if (marked === undefined) continue
    const isLast = index === own.length - 1
    const where = isLast ? 'at its end' : `after message ${index + 1} of its ${own.length}`
    const name = mark === '1h' ? 'prompt_cache 1h' : 'prompt_cache'
    return { messages: own.with(index, sizeMessage(marked)), note: `${name} ${where}` }
  }
  return { messages: own, note: 'no prompt_cache: nothing in it can carry a breakpoint' }
}

function markMessage(message: ChatMessage, mark: Mark): ChatMessage | undefined {
  if (message.role === 'assistant') return undefined
  const { content } = message
  if (typeof content === 'string') return isEmpty(content) ? undefined : { ...message, prompt_cache: mark }
  const index = content.findLastIndex((part) => part.type !== 'text' || !isEmpty(part.text))
  const part = content[index]
  return (
    part && ({ ...message, content: content.with(index, { ...part, prompt_cache: mark }) } as ChatMessage)
  )
}

export function isEmpty(text: string): boolean {
  return text.trim() === ''
}

/** The content of a message as parts. A breakpoint of the message is that of its text. */
export function partsOf({ content, prompt_cache }: ChatMessage): readonly ContentPart[] {
  if (typeof content !== 'string') return content ?? []
  return [{ type: 'text', text: content, ...(prompt_cache && { prompt_cache }) }]
}
