/**
 * What would be invisible, move the cursor or turn the direction of the text: control characters but the newline and the tab, marks of
 * direction, spaces without width, halves of surrogate pairs. Joiners stay, as emoji and some scripts need them.
 */
const UNSEEN =
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Cs}/gu

/** A piece of a text: as it stands, or the mark for a character that nobody would see. */
export type Piece = { text: string } | { mark: string; name: string }

/** Splits a text into what can be shown as it stands, and marks. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = []
  let from = 0
  for (const match of text.matchAll(UNSEEN)) {
    if (match.index > from) found.push({ text: text.slice(from, match.index) })
    found.push(markOf(match[0]))
    from = match.index + match[0].length
  }
  if (from < text.length) found.push({ text: text.slice(from) })
  return found
}

/** The text with its marks: for titles, labels and the clipboard, where nothing can be dimmed. */
export function escapeText(text: string): string {
  return text.replace(UNSEEN, (character) => (markOf(character) as { mark: string }).mark)
}

/** The same on one line: newlines and tabs become a space. */
export function flat(text: string): string {
  return escapeText(text.replace(/[ \t\r\n]+/g, ' '))
}

/** The same without spaces at its ends. */
export function oneLine(text: string): string {
  return flat(text).trim()
}

function markOf(character: string): Piece {
  const code = character.codePointAt(0) ?? 0
  const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
  if (code < 0x20 || code === 0x7f) return { mark: `^${String.fromCharCode(code ^ 0x40)}`, name } // as a terminal writes them: ^@ … ^_, ^?
  return { mark: `‹${name}›`, name }
}
