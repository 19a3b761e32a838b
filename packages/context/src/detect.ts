/** What the first bytes of an image or a file say of it. */
export interface DetectedMedia {
  type: 'image' | 'file'
  media_type: string
  width?: number
  height?: number
}

/** Its first bytes in Latin-1. */
const BEGINNINGS: readonly [RegExp, DetectedMedia][] = [
  [/^\x89PNG\r\n\x1a\n/, { type: 'image', media_type: 'image/png' }],
  [/^\xff\xd8\xff/, { type: 'image', media_type: 'image/jpeg' }],
  [/^GIF8[79]a/, { type: 'image', media_type: 'image/gif' }],
  [/^RIFF.{4}WEBP/s, { type: 'image', media_type: 'image/webp' }],
  [/^%PDF-/, { type: 'file', media_type: 'application/pdf' }],
]

export function detectMedia(bytes: Buffer): DetectedMedia | undefined {
  const beginning = bytes.toString('latin1', 0, 16)
  return BEGINNINGS.find(([expression]) => expression.test(beginning))?.[1]
}
