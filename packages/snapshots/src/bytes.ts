/**
 * A path as the system has it: one character for each byte, so that names which are not UTF-8 stay what they are, and can be
 * keys. Only `pathOf` goes to a system call, only `textOf` to people.
 */
export type Bytes = string

/** The bytes of a text. */
export function bytesOf(text: string): Bytes {
  return Buffer.from(text).toString('latin1')
}

/** For messages and patterns; what is not UTF-8 becomes U+FFFD. */
export function textOf(bytes: Bytes): string {
  return isAscii(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString()
}

/** For a system call. */
export function pathOf(bytes: Bytes): string | Buffer {
  return isAscii(bytes) ? bytes : Buffer.from(bytes, 'latin1')
}

function isAscii(bytes: Bytes): boolean {
  return !/[^\0-\x7f]/.test(bytes)
}
