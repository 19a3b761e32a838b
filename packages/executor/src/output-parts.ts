import { isUtf8 } from 'node:buffer'
import * as z from 'zod/mini'
import { type CapturedOutput, decodeHead } from './channels.js'
import { joined } from './fit-output.js'
import { hasTooManyValues } from './json-limits.js'
import { type Media, mediaOf, showSize } from './media.js'
import type { ToolSettings } from './tool-settings.js'

/** A piece of what a tool returns: text, or an image or file with its bytes. */
export type ToolPart = { type: 'text'; text: string } | (Media & { bytes: Uint8Array; name?: string })

/** What stdout says in other ways than as text, and what that makes of the call. */
export interface Content {
  status: 'SUCCESS' | 'FAILED' | 'ERROR'
  parts: ToolPart[]
}

/** More than any provider takes in one request. */
const MOST_MCP_BYTES = 32 * 1024 * 1024

/** How much of stdout must be in memory for its parts; 0 where it is text. */
export function contentBytes({ as, partBytes }: ToolSettings['output']): number {
  if (as === 'text') return 0
  return as === 'mcp' ? MOST_MCP_BYTES : partBytes
}

interface Reading {
  output: ToolSettings['output']
  /** Redacts a text, and makes its control characters visible. */
  show(text: string): string
  /** Redacts a text, and changes nothing else in it. */
  redact(text: string): string
  /** `; kept in <file>`, or nothing where no file is kept. */
  keptIn: string
}

/** What the stdout of a command that succeeded is by the tool's `output.as`, other than `text`; undefined where it is text. */
export function contentOf(stdout: CapturedOutput, reading: Reading): Content | undefined {
  const { as } = reading.output
  if (as === 'mcp') return mcpContent(stdout, reading)
  const seen = mediaOf(stdout.head, { isCut: stdout.omittedBytes > 0 })
  const media = as === 'file' && stdout.bytes > 0 ? (seen ?? anyFile(stdout.head)) : seen
  if (as === 'auto' && media?.mediaType.startsWith('audio/')) return undefined
  if (as === 'image' && media?.type !== 'image') return refused('an image', stdout, reading)
  const part = media && stdout.omittedBytes === 0 ? toPart(stdout.head, media, reading) : undefined
  if (part) return { status: 'SUCCESS', parts: [part] }
  return media && { status: 'SUCCESS', parts: [tooLarge(media.type, stdout.bytes, reading)] }
}

const TEXT = 'text/plain'

function anyFile(bytes: Buffer): Media {
  const isText = isUtf8(bytes) && !bytes.includes(0)
  return { type: 'file', mediaType: isText ? TEXT : 'application/octet-stream' }
}

function toPart(printed: Buffer, media: Media, reading: Reading): ToolPart {
  const isText = media.mediaType === TEXT
  const bytes = isText ? Buffer.from(reading.redact(printed.toString())) : printed
  return bytes.length > reading.output.partBytes
    ? tooLarge(media.type, bytes.length, reading)
    : { ...media, bytes: new Uint8Array(bytes) } // the bytes alone, not a view of a buffer that holds more
}

const text = (line: string): ToolPart => ({ type: 'text', text: `[${line}]\n` })

function tooLarge(type: string, bytes: number, { keptIn }: Reading): ToolPart {
  return text(`${type} of ${showSize(bytes)} not sent: more than output.part_bytes${keptIn}`)
}

const SHOWN_CHARS = 60

/** @param wanted - `an image`. */
function refused(
  wanted: string,
  { bytes, head, omittedBytes }: CapturedOutput,
  { show, keptIn }: Reading,
): Content {
  const shown = [...show(decodeHead(head.subarray(0, 40_000)))] // redacted before it is cut
  const beginning = shown.slice(0, SHOWN_CHARS).join('') + (shown.length > SHOWN_CHARS ? '…' : '')
  const printed = bytes === 0 ? 'It printed nothing.' : `Its output begins with ${JSON.stringify(beginning)}.`
  const size = omittedBytes > 0 ? ` All ${showSize(bytes)} are more than is read${keptIn}.` : ''
  return {
    status: 'ERROR',
    parts: [{ type: 'text', text: `The tool should print ${wanted}. ${printed}${size}\n` }],
  }
}

/** As the Model Context Protocol defines `CallToolResult`. Lazy, as `settingsSchema`. */
const mcpResult = /* @__PURE__ */ z.lazy(() => {
  const result = { structuredContent: z.optional(z.unknown()), isError: z.optional(z.boolean()) }
  const content = z.array(z.looseObject({ type: z.string() }))
  return z.union([
    z.object({ ...result, content }),
    z.object({ ...result, content: z.optional(content), structuredContent: z.looseObject({}) }),
  ])
})

const mcpBlock = /* @__PURE__ */ z.lazy(() => {
  const word = z.string()
  const resource = z.object({ uri: word, text: z.optional(word), blob: z.optional(word) })
  return z.discriminatedUnion('type', [
    z.object({ type: z.literal('text'), text: word }),
    z.object({ type: z.enum(['image', 'audio']), data: word }),
    z.object({ type: z.literal('resource'), resource }),
    z.object({ type: z.literal('resource_link'), name: word, uri: word, mimeType: z.optional(word) }),
  ])
})

/** No result has more. To read hundreds of thousands would keep a signal waiting. */
const MOST_BLOCKS = 10_000

function mcpContent(stdout: CapturedOutput, reading: Reading): Content {
  const printed = stdout.omittedBytes > 0 ? undefined : parseJson(stdout.text)
  const blocks: unknown = Object(printed).content
  const left = Array.isArray(blocks) ? blocks.splice(MOST_BLOCKS).length : 0
  const result = mcpResult.safeParse(printed).data
  if (!result) return refused('an MCP result (a JSON object with "content")', stdout, reading)
  const { content = [], structuredContent, isError } = result
  const isStructured = content.length === 0 && structuredContent !== undefined
  const parts = isStructured
    ? [{ type: 'text' as const, text: reading.show(JSON.stringify(structuredContent)) }]
    : content.map((block) => mcpPart(block, reading))
  if (left > 0)
    parts.unshift(text(`the last ${left} parts not sent: more than ${MOST_BLOCKS}${reading.keptIn}`))
  return { status: isError ? 'FAILED' : 'SUCCESS', parts }
}

/**
 * Whether a command that failed has printed an MCP result all the same: `delta mcp call` ends with 1 where the tool itself
 * reports a failure.
 */
export function isMcpResult(stdout: CapturedOutput): boolean {
  return stdout.omittedBytes === 0 && mcpResult.safeParse(parseJson(stdout.text)).success
}

/** Undefined also for too many values, and for what is nested so deeply that it cannot be written again. */
function parseJson(json: string): unknown {
  if (hasTooManyValues(json)) return undefined
  try {
    const value: unknown = JSON.parse(json)
    return JSON.stringify(value) && value
  } catch {
    return undefined
  }
}

/** Providers take up to 500 characters. */
const LONGEST_NAME = 200

function mcpPart(written: { type: string }, reading: Reading): ToolPart {
  const { data: block } = mcpBlock.safeParse(written)
  const { show } = reading
  switch (block?.type) {
    case 'text':
      return { type: 'text', text: show(block.text) }
    case 'image':
    case 'audio':
      return decoded(block.data, block.type, reading)
    case 'resource': {
      const { uri, text: inside, blob } = block.resource
      if (inside !== undefined) return { type: 'text', text: show(inside) }
      const part = decoded(blob ?? '', 'resource', reading)
      const name = show(uri.split('/').at(-1) || uri).slice(0, LONGEST_NAME)
      return part.type === 'text' || name === '' ? part : { ...part, name }
    }
    case 'resource_link':
      return text(show(`link: ${[block.name, block.uri, block.mimeType].filter(Boolean).join(', ')}`))
    default:
      return text(`${show(written.type)} not sent: it is not as MCP describes it`)
  }
}

/** The type that the result names is not believed. */
function decoded(base64: string, type: string, reading: Reading): ToolPart {
  const bytes = Buffer.from(base64, 'base64')
  const media = mediaOf(bytes) ?? (type === 'image' || bytes.length === 0 ? undefined : anyFile(bytes))
  if (media) return toPart(bytes, media, reading)
  return text(
    `${type} not sent: ${type === 'image' ? 'it is not a whole PNG, JPEG, GIF or WebP' : 'it has no bytes'}`,
  )
}

const MOST_PARTS = 20

/** The parts that are sent: neighbouring texts are one, and beyond 20 a line says how many there are. */
export function limited(parts: readonly ToolPart[], keptIn: string): ToolPart[] {
  const joined = joinTexts(parts)
  if (joined.length <= MOST_PARTS) return joined
  const sent = joined.slice(0, MOST_PARTS - 1)
  const rest = joined.length - sent.length
  return joinTexts([...sent, text(`${rest} more parts not sent: more than ${MOST_PARTS}${keptIn}`)])
}

function joinTexts(parts: readonly ToolPart[]): ToolPart[] {
  const merged: ToolPart[] = []
  let texts: string[] = []
  const endText = () => {
    if (texts.length > 0) merged.push({ type: 'text', text: joined(texts) })
    texts = []
  }
  for (const part of parts) {
    if (part.type === 'text') texts.push(part.text)
    else {
      endText()
      merged.push(part)
    }
  }
  endText()
  return merged
}

/** The parts as a text: `[image image/png 640x480, 53 kB]` where an image stands. */
export function describeParts(parts: readonly ToolPart[]): string {
  return joined(parts.map(describePart))
}

function describePart(part: ToolPart): string {
  if (part.type === 'text') return part.text
  const { type, mediaType, width, height, bytes, name } = part
  const words = [type, mediaType, width && `${width}x${height}`, name].filter(Boolean).join(' ')
  return `[${words}, ${showSize(bytes.length)}]\n`
}
