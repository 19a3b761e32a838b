import type { ChatMessage, ContentPart, FunctionTool } from '@delta/model'
import { isPlain } from '@delta/model/internal'
import { jsonOf, keepJson } from './json.js'

/** A part of a request, measured. */
export interface Sized {
  /** What is sent of it: its texts, or what goes back to its provider in place of them. Without images and files. */
  sent: unknown
  /** Size of `sent` as JSON in UTF-8. An image or file counts four bytes for each of its tokens. */
  bytes: number
  /** What its images and files cost, as providers count them. */
  mediaTokens: number
}

/** A message as the model gets it. */
export interface SizedMessage extends Sized {
  message: ChatMessage
  /** The message as JSON. */
  json: string
}

/** The definitions of the tools, which count as their JSON: in a schema, the keys are words of the author, too. */
export interface SizedTools extends Sized {
  sha256: string
}

/** Before a provider has counted. */
export const USUAL_BYTES_PER_TOKEN = 4

export function sizeMessage(message: ChatMessage): SizedMessage {
  const { json, bytes: all } = keepJson(message)
  const mediaTokens = tokensOfMedia(message)
  const sent = sentOf(message)
  const bytes = sent === message ? all : Buffer.byteLength(JSON.stringify(sent))
  return { message, json, sent, bytes: bytes + mediaTokens * USUAL_BYTES_PER_TOKEN, mediaTokens }
}

export function sizeTools(tools: readonly FunctionTool[]): SizedTools {
  const { json, bytes, sha256 } = jsonOf(tools)
  return { sent: json, bytes, mediaTokens: 0, sha256 }
}

/**
 * An answer holds its text and calls, and perhaps the items that its provider gets back in place of them: the larger counts,
 * because another provider may be asked.
 */
function sentOf(message: ChatMessage): unknown {
  if (isPlain(message)) return message
  const { items, iteration, is_error, prompt_cache, content, ...rest } = message
  const texts = Array.isArray(content) ? content.filter(({ type }) => type === 'text') : content
  const plain = { ...rest, content: texts }
  const list = message.role === 'assistant' ? message.items?.list : undefined
  return list && JSON.stringify(list).length > JSON.stringify(plain).length ? list : plain
}

/** An image or a file. */
export type Media = Exclude<ContentPart, { type: 'text' }>

/** What the images and files in a message cost. */
function tokensOfMedia({ content }: ChatMessage): number {
  if (!Array.isArray(content)) return 0
  return content.reduce((sum, part) => sum + (part.type === 'text' ? 0 : tokensOf(part)), 0)
}

/** Larger images are made smaller by the provider. One of unknown size may be such an image. */
const MOST_IMAGE_TOKENS = 1600
const PIXELS_PER_TOKEN = 750
/** A page of a PDF is its text and an image: at most 3,000 tokens in the Messages API. Here it counts as 60 kB. */
const PDF_BYTES_PER_TOKEN = 20

/** What an image or file costs: an image by its pixels, a text by its bytes, any other file like a PDF. */
function tokensOf({ type, media_type, width, height, bytes }: Media): number {
  if (type === 'image') {
    const tokens = Math.ceil(((width ?? Number.POSITIVE_INFINITY) * (height ?? 1)) / PIXELS_PER_TOKEN)
    return Math.min(MOST_IMAGE_TOKENS, tokens)
  }
  return Math.ceil(bytes / (media_type.startsWith('text/') ? USUAL_BYTES_PER_TOKEN : PDF_BYTES_PER_TOKEN))
}

/**
 * What images and files count in the size of a request, in bytes. A provider's count calibrates estimates by that size, so
 * their base64 is not part of it.
 */
export function bytesOfMedia(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, message) => sum + tokensOfMedia(message) * USUAL_BYTES_PER_TOKEN, 0)
}
