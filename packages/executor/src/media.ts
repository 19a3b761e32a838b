import { GIF } from 'image-size/types/gif'
import { PNG } from 'image-size/types/png'
import { WEBP } from 'image-size/types/webp'

/** What bytes are. Images come with their size in pixels. */
export interface Media {
  type: 'image' | 'file'
  mediaType: string
  width?: number
  height?: number
}

/** `isWhole`: it has its end; a command that was killed, or a full disk, leaves a beginning. */
const IMAGES = [
  {
    mediaType: 'image/png',
    begins: /^\x89PNG\r\n\x1a\n/,
    size: headerSize(PNG),
    isWhole: (bytes: Buffer) => bytes.includes('IEND\xaeB`\x82', 'latin1'),
  },
  {
    mediaType: 'image/jpeg',
    begins: /^\xff\xd8\xff/,
    size: jpegSize,
    // a thumbnail has an end of its own, and the picture begins behind it
    isWhole: (bytes: Buffer) =>
      bytes.lastIndexOf('\xff\xd9', 'latin1') > bytes.lastIndexOf('\xff\xda', 'latin1'),
  },
  {
    mediaType: 'image/gif',
    begins: /^GIF8[79]a/,
    size: headerSize(GIF),
    isWhole: (bytes: Buffer) => bytes.includes('\0;', -20, 'latin1'), // some programs pad it
  },
  {
    mediaType: 'image/webp',
    begins: /^RIFF.{4}WEBPVP8/s,
    size: headerSize(WEBP),
    isWhole: (bytes: Buffer) => {
      const length = bytes.readUInt32LE(4)
      return length > 0 && length + 8 <= bytes.length
    },
  },
]

const PDF = { mediaType: 'application/pdf', begins: /^%PDF-\d\.\d\s/ }

const AUDIO = [
  { mediaType: 'audio/wav', begins: /^RIFF.{4}WAVE/s },
  { mediaType: 'audio/mpeg', begins: /^(ID3[\0-\x0f]|\xff[\xe2\xe3\xf2\xf3\xfa\xfb])/ },
  { mediaType: 'audio/ogg', begins: /^OggS\0/ },
]

const LONGEST_BEGINNING = 16

/**
 * What bytes are, by how they begin. An image without its end, or without a size, is broken and counts as none: a provider would refuse
 * it, in this request and in all that follow.
 *
 * @param isCut - The bytes are the beginning of more, so no end is looked for.
 */
export function mediaOf(bytes: Buffer, { isCut = false } = {}): Media | undefined {
  const beginning = bytes.toString('latin1', 0, LONGEST_BEGINNING)
  const image = IMAGES.find(({ begins }) => begins.test(beginning))
  if (image) {
    const size = isCut || image.isWhole(bytes) ? sizeOf(bytes, image.size) : undefined
    return size && { type: 'image', mediaType: image.mediaType, ...size }
  }
  const file = [PDF, ...AUDIO].find(({ begins }) => begins.test(beginning))
  return file && { type: 'file', mediaType: file.mediaType }
}

type Size = { width: number; height: number }

const HEADER_BYTES = 64

/** The size that stands at the beginning. Of a copy: image-size may read past the end, where other data of the process lies. */
function headerSize({ calculate }: typeof PNG): (bytes: Buffer) => Size {
  return (bytes) => calculate(Uint8Array.from(bytes.subarray(0, HEADER_BYTES)))
}

/** The frame may stand behind megabytes of profiles and thumbnails. image-size takes a second for a million segments. */
function jpegSize(bytes: Buffer): Size {
  let at = 2
  while (bytes.readUInt8(at) === 0xff) {
    const marker = bytes.readUInt8(at + 1)
    if (marker >= 0xc0 && marker <= 0xc2)
      return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2) // 0xff before a marker is padding
  }
  throw new RangeError('no segment stands where one should')
}

function sizeOf(bytes: Buffer, read: (bytes: Buffer) => Size): Size | undefined {
  try {
    const { width, height } = read(bytes)
    return width > 0 && height > 0 ? { width, height } : undefined
  } catch {
    return undefined // the bytes end before it, or it is in none of the places where it belongs
  }
}

/** `999 bytes`, `53 kB`, `7.1 MB`. */
export function showSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`
  return bytes < 999_500 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}
