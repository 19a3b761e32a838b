import { quote } from 'shell-quote'

const PLAIN_WORD = /^[A-Za-z0-9_@%+=:,./-]+$/

/**
 * Writes an argv as one line a person can paste into a POSIX shell.
 * Control characters stay as they are inside the quotes: the line runs exactly this command.
 */
export function quoteCommand(argv: readonly string[]): string {
  return argv.map(quoteWord).join(' ')
}

/** What a terminal acts on, hides, mistakes for the end of the line, or shows as a space that is none. */
const UNSEEN = /(?! )[\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u

const NAMED: Readonly<Record<string, string>> = {
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\\': '\\\\',
  "'": "\\'",
}

/**
 * The same for a person who has to judge it: control characters, line ends and invisible characters are spelt out
 * (`$'a\nb'`, for bash, zsh and other shells that know it), so that two commands never look alike, and none adds lines
 * to the question it stands in.
 *
 * @param known - Words that are shown as they are, such as the script of the tool's own author.
 */
export function quoteForPerson(argv: readonly string[], known: readonly string[] = []): string {
  return argv
    .map((word, index) =>
      UNSEEN.test(word) && !known.includes(word) ? spellOut(word) : quoteWord(word, index),
    )
    .join(' ')
}

/** Bytes in octal, which every shell with `$'…'` ends after three digits. */
function spellOut(word: string): string {
  const spelt = word.replace(new RegExp(`${UNSEEN.source}|[\\\\']`, 'gu'), (one) => NAMED[one] ?? octal(one))
  return `$'${spelt}'`
}

function octal(character: string): string {
  return [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
}

/** shell-quote also escapes what no shell minds, such as the colon of an address; a plain word stays as it is. */
function quoteWord(word: string, index: number): string {
  const assignment = index === 0 && word.includes('=') // FOO=bar as the program, not as a setting
  return PLAIN_WORD.test(word) && !assignment ? word : quote([word])
}

/**
 * Writes control characters as `\x1b`, so that no text of a command can steer a terminal it is
 * shown on. Tabs and line ends stay, a lone carriage return does not.
 */
export function showControls(text: string): string {
  return text.replaceAll(
    /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)/g,
    (control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
}
