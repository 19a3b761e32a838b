/** Control characters but newline and tab, and what changes the direction of the text around it. */
const ACTING = '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069'
/** Characters without width, in which a text can hide another. Not the joiners, which emoji and some scripts need. */
const HIDDEN =
  '\\u00ad\\u061c\\u115f\\u1160\\u180e\\u200b\\u200e\\u200f\\u2060-\\u2065\\u3164\\ufeff\\uffa0\\u{e0000}-\\u{e0fff}'
/** Beside ASCII a joiner joins nothing. */
const IDLE_JOINER = '(?<![^\\x00-\\x7f])[\\u200c\\u200d]|[\\u200c\\u200d](?![^\\x00-\\x7f])'
const UNSEEN = new RegExp(`[${ACTING}${HIDDEN}]|${IDLE_JOINER}`, 'gu')

/**
 * Text from a model, a tool or a file, made safe for a terminal: control characters are shown as `\x1b` and invisible ones as
 * `\u200b`, so that no sequence moves the cursor, sets a title or hides a line, and no text holds another that is not seen.
 */
export function printable(text: string): string {
  return text.replace(UNSEEN, escaped)
}

/** The same for a name, or whatever else belongs on one line. */
export function printableLine(text: string): string {
  return printable(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t')
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code > 0xffff) return `\\u{${code.toString(16)}}`
  return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`
}
