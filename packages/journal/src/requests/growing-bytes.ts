/** UTF-8 that only grows: each text is encoded once, however often the whole is asked for. */
export interface GrowingBytes {
  /** Adds a text, and gives its bytes; they are good until the next call. */
  add(text: string): Buffer
  /** A copy of everything, with a text behind it that is not kept. */
  endingWith(text: string): Buffer
}

const FIRST_BYTES = 16 * 1024

export function growingBytes(): GrowingBytes {
  let room = Buffer.allocUnsafe(FIRST_BYTES)
  let length = 0

  return {
    add(text) {
      const bytes = Buffer.from(text)
      const end = length + bytes.length
      if (end > room.length) room = Buffer.concat([room.subarray(0, length)], 2 * end)
      length += bytes.copy(room, length)
      return bytes
    },
    endingWith(text) {
      return Buffer.concat([room.subarray(0, length), Buffer.from(text)])
    },
  }
}
