import { printable } from './printable.js'

/** A text as lines: the prefix before the first, the others aligned below it. */
export function indented(prefix: string, text: string, paint: (text: string) => string): string[] {
  const next = ' '.repeat(prefix.length)
  return linesOf(text).map((line, index) => paint(`${index === 0 ? prefix : next}${line}`))
}

/** The lines of a text, made safe for a terminal. Newlines at its end begin no further line. */
export function linesOf(text: string): string[] {
  return printable(text.replace(/\n+$/, '')).split('\n')
}
