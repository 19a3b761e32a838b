import { printable } from './printable.js'

/** A text as lines behind a prefix, all of them in one column. */
export function indented(prefix: string, text: string, paint: (text: string) => string): string[] {
  const next = ' '.repeat(prefix.length)
  return linesOf(text).map((line, index) => paint(`${index === 0 ? prefix : next}${line}`))
}

/** A text by its lines, safe for a terminal. A line end at the end begins no further one. */
export function linesOf(text: string): string[] {
  return printable(text.replace(/\n+$/, '')).split('\n')
}
