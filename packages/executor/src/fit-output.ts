import { isUtf8 } from 'node:buffer'
import { type CapturedOutput, decodeHead, decodeTail, type Keep } from './channels.js'

/** A stream as text: its beginning and its end, or twice the whole. */
export interface Ends {
  head: string
  tail: string
  /** Infinite when bytes between the ends were not read. */
  chars: number
  /** Bytes that are not UTF-8 were replaced. */
  isLossy: boolean
  bytes: number
  /** Where the whole output is, as the end of a sentence. */
  where: string
}

/** @param path - Where the whole output is, as the model can use it. */
export function readEnds(
  { bytes, head, tail, omittedBytes, text }: CapturedOutput,
  show: (text: string) => string,
  path: string | undefined,
): Ends {
  const where = path === undefined ? '' : `; all ${bytes} bytes are in ${path}`
  if (omittedBytes > 0) {
    const ends = { head: show(decodeHead(head)), tail: show(decodeTail(tail)) }
    return { ...ends, chars: Number.POSITIVE_INFINITY, isLossy: false, bytes, where }
  }
  const whole = show(text)
  return { head: whole, tail: whole, chars: whole.length, isLossy: !isUtf8(head), bytes, where }
}

/** The text, or as much of its ends as the budget of characters allows. */
export function fit({ head, tail, chars, isLossy, bytes, where }: Ends, budget: number, keep: Keep): string {
  if (chars <= budget) return isLossy ? onNewLine(head, `[not UTF-8 text${where}]\n`) : head
  const headChars = keep === 'head' ? budget : keep === 'tail' ? 0 : Math.ceil(budget / 2)
  const first = head.slice(0, headChars).replace(/[\ud800-\udbff]$/, '') // never half of a character
  const last = tail.slice(Math.max(0, tail.length - budget + headChars)).replace(/^[\udc00-\udfff]/, '')
  const leftOut = Math.max(0, bytes - Buffer.byteLength(first) - Buffer.byteLength(last))
  return joined([first, `[${leftOut} bytes left out here${where}]\n`, last])
}

/** What there is of these, each on a line of its own. */
export function joined(parts: readonly (string | undefined)[]): string {
  return parts.reduce<string>((text, part) => (part ? onNewLine(text, part) : text), '')
}

/** A text, and another that begins on a line of its own. */
function onNewLine(text: string, part: string): string {
  return text === '' || text.endsWith('\n') ? text + part : `${text}\n${part}`
}

/** Texts, each of which begins on a line of its own. Joined at once: to grow a text by many would take minutes. */
export function onLines(texts: readonly string[]): string {
  let isOnNewLine = true
  const pieces = texts.map((text) => {
    const piece = isOnNewLine ? text : `\n${text}`
    isOnNewLine = text === '' || text.endsWith('\n')
    return piece
  })
  return pieces.join('')
}

/** A text of which all is there. */
export function wholeText(text: string, path: string | undefined): Ends {
  const bytes = Buffer.byteLength(text)
  return {
    head: text,
    tail: text,
    chars: text.length,
    isLossy: false,
    bytes,
    where: path ? `; the whole output is in ${path}` : '',
  }
}
