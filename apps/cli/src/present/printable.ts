/**
 * Text from a model, a tool or a file, made safe for a terminal: control characters (but newline and tab) are shown
 * as `\x1b`, so that no sequence moves the cursor, sets a title or hides a line.
 */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, escaped)
}

/** The same for a name, or whatever else belongs on one line. */
export function printableLine(text: string): string {
  return printable(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t')
}

function escaped(character: string): string {
  const code = character.charCodeAt(0)
  return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16)}`
}
