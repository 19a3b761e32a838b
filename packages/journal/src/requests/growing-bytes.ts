/** UTF-8 that grows: each text is encoded once, however often the whole is asked for. */
export interface GrowingBytes {
  /** Adds a text, and gives its bytes; they are good until the next call. */
  add(text: string): Buffer
  /** Everything, with a text behind it that is not kept: good until the next call, for it lies in the same memory. */
  endingWith(text: string): Buffer
  /** Begins anew, in the same memory. */
  clear(): void
}

const FIRST_BYTES = 16 * 1024

export function growingBytes(): GrowingBytes {
  let room = Buffer.allocUnsafe(FIRST_BYTES)
  let length = 0

  /** Puts a text behind what is there; gives its end. */
  function put(text: string): number {
    const end = length + Buffer.byteLength(text)
    if (end > room.length) room = Buffer.concat([room.subarray(0, length)], 2 * end)
    return length + room.write(text, length)
  }

  return {
    add(text) {
      const start = length
      length = put(text)
      return room.subarray(start, length)
    },
    endingWith(text) {
      const end = put(text) // which may move to larger room
      return room.subarray(0, end)
    },
    clear() {
      length = 0
    },
  }
}
