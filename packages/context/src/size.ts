import type { ChatMessage, Content, ContentPart } from '@delta/model'

/** A message as the model gets it. */
export interface SizedMessage {
  message: ChatMessage
  /** The message as JSON. */
  json: string
  /** What is sent of it: its texts, or what goes back to its provider in place of them. Without images and files. */
  sent: unknown
  /** Size of `sent` as JSON in UTF-8. An image or file counts four bytes for each of its tokens. */
  bytes: number
  /** Of its images and files, as providers count them. */
  mediaTokens: number
}

/** Before a provider has counted. */
export const USUAL_BYTES_PER_TOKEN = 4

export function sizeMessage(message: ChatMessage): SizedMessage {
  const json = JSON.stringify(message)
  const mediaTokens = mediaOf(message.content).reduce((sum, part) => sum + tokensOfMedia(part), 0)
  const sent = sentOf(message)
  const text = sent === message ? json : JSON.stringify(sent)
  return {
    message,
    json,
    sent,
    bytes: Buffer.byteLength(text) + mediaTokens * USUAL_BYTES_PER_TOKEN,
    mediaTokens,
  }
}

/**
 * An answer holds its text and calls, and perhaps the items that its provider gets back in place of them: the larger counts,
 * because another provider may be asked.
 */
function sentOf(message: ChatMessage): unknown {
  const { items, is_error, prompt_cache, ...plain } = message
  if (message.role === 'assistant' && message.items) {
    const { list } = message.items
    return JSON.stringify(list).length > JSON.stringify(plain).length ? list : plain
  }
  if (mediaOf(message.content).length > 0) return { ...plain, content: partsWithText(message.content) }
  return is_error === undefined && prompt_cache === undefined && items === undefined ? message : plain
}

function partsWithText(content: Content | null): unknown {
  return Array.isArray(content) ? content.filter(({ type }) => type === 'text') : content
}

/** An image or a file. */
export type Media = Exclude<ContentPart, { type: 'text' }>

export function mediaOf(content: Content | null): Media[] {
  if (content === null || typeof content === 'string') return []
  return content.flatMap((part) => (part.type === 'text' ? [] : [part]))
}

/** Larger images are made smaller by the provider. One of unknown size may be such an image. */
const MOST_IMAGE_TOKENS = 1600
const PIXELS_PER_TOKEN = 750
/** A page of a PDF is its text and an image: at most 3,000 tokens, says Anthropic. Here it counts as 60 kB. */
const PDF_BYTES_PER_TOKEN = 20

/** What an image or file costs: an image by its pixels, a text by its bytes, any other file like a PDF. */
export function tokensOfMedia({ type, media_type, width, height, bytes }: Media): number {
  if (type === 'image') {
    const tokens = Math.ceil(((width ?? Number.POSITIVE_INFINITY) * (height ?? 1)) / PIXELS_PER_TOKEN)
    return Math.min(MOST_IMAGE_TOKENS, tokens)
  }
  return Math.ceil(bytes / (media_type.startsWith('text/') ? USUAL_BYTES_PER_TOKEN : PDF_BYTES_PER_TOKEN))
}

/**
 * What images and files count in the size of a request, in bytes. A provider's count calibrates estimates by that size, so
 * their base64 is no part of it.
 */
export function bytesOfMedia(messages: readonly ChatMessage[]): number {
  const media = messages.flatMap(({ content }) => mediaOf(content))
  return media.reduce((sum, part) => sum + tokensOfMedia(part) * USUAL_BYTES_PER_TOKEN, 0)
}
