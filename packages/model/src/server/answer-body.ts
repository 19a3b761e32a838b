import type { IncomingMessage } from 'node:http'
import { pipeline, type Readable } from 'node:stream'

/**
 * The bytes of an answer, unpacked: servers may compress though nobody asked them to, and some proxies always do. A coding
 * that is not known is left as it is.
 */
export async function unpacked(incoming: IncomingMessage): Promise<Readable> {
  const coding = incoming.headers['content-encoding']?.trim().toLowerCase()
  if (coding === undefined || coding === '' || coding === 'identity') return incoming
  const unpacker = await openUnpacker(coding)
  if (!unpacker) return incoming
  return pipeline(incoming, unpacker, () => undefined) // an error reaches whoever reads the unpacked bytes
}

async function openUnpacker(coding: string) {
  const { createBrotliDecompress, createGunzip, createInflate } = await import('node:zlib')
  if (coding === 'gzip' || coding === 'x-gzip') return createGunzip()
  if (coding === 'deflate') return createInflate()
  return coding === 'br' ? createBrotliDecompress() : undefined
}

/** The pieces of a stream; throws once they are longer than `maxBytes`. */
export async function* limitedTo(
  maxBytes: number,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > maxBytes) throw tooLong(maxBytes)
    yield chunk
  }
}

const TOO_LONG = 'ERR_ANSWER_TOO_LONG'

export function tooLong(maxBytes: number): Error {
  const message = `It is longer than ${maxBytes / (1024 * 1024)} MiB.`
  return Object.assign(new Error(message), { code: TOO_LONG })
}

export function isTooLong(error: unknown): boolean {
  return Object(error).code === TOO_LONG
}
