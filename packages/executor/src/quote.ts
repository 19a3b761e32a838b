import { quote } from 'shell-quote'

const PLAIN_WORD = /^[A-Za-z0-9_@%+=:,./-]+$/

/**
 * Writes an argv as a line for a POSIX shell, which runs exactly this command: control characters stay as they are.
 *
 * @example
 * quoteCommand(['grep', "it's", 'a b.txt']) // grep "it's" 'a b.txt'
 */
export function quoteCommand(argv: readonly string[]): string {
  return argv.map(quoteWord).join(' ')
}

/** What a terminal acts on, hides, takes for a line end, or shows as a space although it is not one. */
const UNSEEN = /(?! )[\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u

const NAMED: Readonly<Record<string, string>> = {
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\\': '\\\\',
  "'": "\\'",
}

/**
 * Writes an argv for a person who has to judge it. Control characters, line ends and invisible characters are escaped
 * (`$'a\nb'`, for bash and zsh): two different commands never look alike, and a command stays on its line.
 *
 * @param known - Words that are shown as they are, such as the script of the tool's author.
 */
export function quoteForPerson(argv: readonly string[], known: readonly string[] = []): string {
  return argv
    .map((word, index) =>
      UNSEEN.test(word) && !known.includes(word) ? escapeWord(word) : quoteWord(word, index),
    )
    .join(' ')
}

/** Bytes in octal, which every shell with `$'…'` reads as three digits. */
function escapeWord(word: string): string {
  const escaped = word.replace(
    new RegExp(`${UNSEEN.source}|[\\\\']`, 'gu'),
    (one) => NAMED[one] ?? octal(one),
  )
  return `$'${escaped}'`
}

function octal(character: string): string {
  return [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
}

/** shell-quote also escapes harmless characters, such as the colon of an address; a plain word stays as it is. */
function quoteWord(word: string, index: number): string {
  const assignment = index === 0 && word.includes('=') // FOO=bar as the program, not as a setting
  return PLAIN_WORD.test(word) && !assignment ? word : quote([word])
}

/**
 * Writes control characters as `\x1b`, and what changes the direction of text as `\u{202e}`, so that a text cannot steer the
 * terminal it is shown on. Tabs and line ends stay, a lone carriage return does not.
 */
export function showControls(text: string): string {
  return text.replaceAll(
    /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\r(?!\n)/g,
    (one) => {
      const code = one.charCodeAt(0).toString(16)
      return code.length > 2 ? `\\u{${code}}` : `\\x${code.padStart(2, '0')}`
    },
  )
}

/** Characters without width, in which a text can hide another. Joiners count only beside ASCII: emoji and some scripts need them. */
const HIDDEN =
  /[\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2060-\u2065\u3164\ufeff\uffa0\u{e0000}-\u{e0fff}]|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])/gu

/** As `showControls`, and invisible characters as `\u{200b}`: for a text of somebody else that a person reviews. */
export function showUnseen(text: string): string {
  return showControls(text).replaceAll(HIDDEN, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`)
}
