/** What the first bytes of an image or a file say of it. */
export interface DetectedMedia {
  type: 'image' | 'file'
  mediaType: string
  width?: number
  height?: number
}

/** Its first bytes in Latin-1. */
const BEGINNINGS: readonly [RegExp, DetectedMedia][] = [
  [/^\x89PNG\r\n\x1a\n/, { type: 'image', mediaType: 'image/png' }],
  [/^\xff\xd8\xff/, { type: 'image', mediaType: 'image/jpeg' }],
  [/^GIF8[79]a/, { type: 'image', mediaType: 'image/gif' }],
  [/^RIFF.{4}WEBP/s, { type: 'image', mediaType: 'image/webp' }],
  [/^%PDF-/, { type: 'file', mediaType: 'application/pdf' }],
]

export function detectMedia(bytes: Buffer): DetectedMedia | undefined {
  const beginning = bytes.toString('latin1', 0, 16)
  return BEGINNINGS.find(([expression]) => expression.test(beginning))?.[1]
}
