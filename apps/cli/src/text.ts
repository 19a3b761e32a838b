import { stripVTControlCharacters } from 'node:util'
import { columnsOf } from '@delta/config-loader/internal'
import type { Effects } from '@delta/executor'
import type { Terminal } from './terminal.js'

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

/** A name, or any other text that belongs on one line, made safe for a terminal. */
export function printableLine(text: string): string {
  return printable(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t')
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code > 0xffff) return `\\u{${code.toString(16)}}`
  return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`
}

/** `1 message`, `2 messages`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

/** `12 ms`, `3.4 s`, `2 min 5 s`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 60_000) return `${Math.floor(milliseconds / 100) / 10} s`
  return `${Math.floor(milliseconds / 60_000)} min ${Math.floor((milliseconds % 60_000) / 1000)} s`
}

/** How long ago something was, in one unit: `5s`, `3m`, `2h`, `4d`; `?` for no time. Never negative, whatever the clock did. */
export function age(then: number, now: number): string {
  if (Number.isNaN(then)) return '?' // a timestamp that somebody edited
  const seconds = Math.max(0, Math.floor((now - then) / 1000))
  if (seconds < 60) return `${seconds}s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`
  return `${Math.floor(seconds / 86_400)}d`
}

/** Declared effects in words; `-` if none are declared. */
export function effectsOf(effects: Effects | undefined): string {
  if (effects === undefined || Object.keys(effects).length === 0) return '-'
  const { filesystem, network, destructive, reversible, cost, creates, modifies, deletes } = effects
  const { stdin = 'none', prompts = false, tty = false } = effects.interactive ?? {}
  const words = [
    filesystem?.write || creates?.length || modifies?.length ? 'writes files' : '',
    filesystem?.delete || deletes?.length ? 'deletes files' : '',
    network ? 'network' : '',
    destructive ? 'destructive' : '',
    reversible === false ? 'not reversible' : '',
    cost?.billable ? 'billable' : '',
    stdin === 'required' || stdin === 'password' || prompts || tty ? 'interactive' : '',
  ].filter(Boolean)
  return words.length === 0 ? 'none of note' : words.join(', ')
}

/** Declared effects as a line of a question to a person: a claim, not checked. */
export function claimOf(effects: Effects | undefined): string {
  const words = effectsOf(effects)
  return `Effects it declares: ${words === '-' ? 'none' : words}`
}

/** A text in at most this many columns of a terminal; a cut is marked with `…`. */
export function inColumns(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text
  let shown = ''
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (columnsOf(shown + segment) >= columns) break
    shown += segment
  }
  return `${shown}…`
}

/** What stands before the words of a line: blanks, the number of an iteration, or the mark of who speaks. */
const BEFORE_WORDS = /^\s*(?:\d+\. |(?:ask_human )?[>?!∴] )?/

/**
 * A line of prose, coloured or not, as lines of at most this many columns. The further ones begin below the words of the first. A
 * longer word is left to the terminal.
 *
 * @param columns - Undefined or 0 for a file or a pipe, where no line is broken.
 */
export function wrapped(line: string, columns: number | undefined): string[] {
  if (!columns || line.length * 2 <= columns) return [line] // a character has two columns at most
  const indent = ' '.repeat(BEFORE_WORDS.exec(stripVTControlCharacters(line))?.[0].length ?? 0)
  const lines: string[] = []
  let last = ''
  for (const word of line.split(/(?<=\S)(?=\s)/)) {
    if (last.trim() !== '' && columnsOf(stripVTControlCharacters(last + word)) > columns) {
      lines.push(last)
      last = indent + word.trimStart()
    } else last += word
  }
  return [...lines, last]
}

/**
 * Rows, the first of them a header, as lines with aligned columns. On a terminal that is narrower than the table, the cells that do
 * not fit go below, so that no word breaks.
 */
export function table(rows: readonly string[][], columns?: number): string {
  const widthOf = (column: number) => Math.max(...rows.map((cells) => columnsOf(cells[column] ?? '')))
  const widths = (rows[0] ?? []).map((_, column) => widthOf(column))
  const padded = (cell: string, column: number) => cell + ' '.repeat((widths[column] ?? 0) - columnsOf(cell))
  const breaks = breaksOf(widths, columns || Number.POSITIVE_INFINITY)
  const lineOf = (cells: readonly string[]) =>
    cells
      .map(padded)
      .map((cell, column) => (column === 0 ? '' : breaks.has(column) ? '\n  ' : '  ') + cell)
      .join('')
      .replaceAll(/ +$/gm, '')
  return rows.map((cells) => `${lineOf(cells)}\n`).join('')
}

/** The columns that begin a line of their own. */
function breaksOf(widths: readonly number[], columns: number): ReadonlySet<number> {
  const breaks = new Set<number>()
  let used = 0
  for (const [column, width] of widths.entries()) {
    if (column > 0 && used + 2 + width > columns) {
      breaks.add(column)
      used = 0
    }
    used += 2 + width
  }
  return breaks
}

/** Writes a result: byte for byte to a file or a pipe, without control sequences to a terminal. */
export function print(terminal: Terminal, text: string): void {
  terminal.stdout.write(terminal.stdout.isTTY ? printable(text) : text)
}

/** An answer and one newline. */
export function printAnswer(terminal: Terminal, answer: string): void {
  print(terminal, `${answer.replace(/\n$/, '')}\n`)
}

/** Writes any value as JSON. */
export function printJson(terminal: Terminal, value: unknown): void {
  print(terminal, `${JSON.stringify(value, null, 2)}\n`)
}

/** Tells a person something besides the result, in lines of its own. */
export function say({ stderr }: Terminal, text: string): void {
  stderr.write(`${printable(text)}\n`)
}

/** `$0.0132`: US dollars with four significant digits. */
export function money(dollars: number): string {
  return `$${dollars >= 1000 ? Math.round(dollars) : Number(dollars.toPrecision(4))}`
}
