import type { ToolPart, ToolResult } from '@delta/executor'

type MediaPart = Exclude<ToolPart, { type: 'text' }>

/** An image or a file as JSON can hold it. */
export type Medium = ReturnType<typeof encoded>

export function encoded({ type, mediaType, bytes, name = 'file' }: MediaPart) {
  return { type, mediaType, name, base64: Buffer.from(bytes).toString('base64') }
}

/** The images and files of a result, in the order of the lines that stand for them in its observation. */
export function mediaOf({ parts = [] }: ToolResult): Medium[] {
  return parts.flatMap((part) => (part.type === 'text' ? [] : encoded(part)))
}
