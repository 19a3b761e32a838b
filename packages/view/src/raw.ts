import type { IncomingMessage, ServerResponse } from 'node:http'
import { Refusal } from './errors.js'

/** Bytes of which a piece can be asked for. */
export interface RawText {
  size: number
  /** At most this many, fewer only at the end. */
  read(from: number, bytes: number): Promise<Buffer>
  /** Set for what a browser must not show. */
  fileName?: string
}

const PIECE_BYTES = 1 << 20

/** A text that is in memory. */
export function rawText(text: string): RawText {
  const bytes = Buffer.from(text)
  return { size: bytes.length, read: async (from, count) => bytes.subarray(from, from + count) }
}

/**
 * Sends bytes, or the piece that `Range` asks for, as plain text.
 *
 * @throws {Refusal} 416
 */
export async function sendRaw(
  { headers }: IncomingMessage,
  response: ServerResponse,
  raw: RawText,
): Promise<void> {
  const { size, fileName } = raw
  const range = rangeIn(headers.range, size)
  const [from, end] = range ?? [0, size]
  response.writeHead(range ? 206 : 200, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Accept-Ranges': 'bytes',
    'Content-Length': end - from,
    ...(range && { 'Content-Range': `bytes ${from}-${end - 1}/${size}` }),
    ...(fileName !== undefined && { 'Content-Disposition': `attachment; filename="${fileName}"` }),
  })
  for (let at = from; at < end && !response.destroyed; ) {
    const piece = await raw.read(at, Math.min(PIECE_BYTES, end - at))
    if (piece.length === 0) break // it became shorter
    at += piece.length
    if (!response.write(piece)) await drained(response)
  }
  response.end()
}

/** The first byte and the byte after the last. Undefined for all of it: also for several ranges, which nobody needs here. */
function rangeIn(header: string | undefined, size: number): [from: number, end: number] | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? []
  if (first === '' && last === '') return undefined
  const from = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1)
  if (from < end) return [from, end]
  if (size === 0 && from === 0) return undefined // all of nothing
  throw new Refusal(416, `There are ${size} bytes.`, { 'Content-Range': `bytes */${size}` })
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.once('drain', done).once('close', done)
  })
}
