import { wrapped } from '../present/columns.js'

/** The first column of a table, and the gap behind it. */
const FIRST_COLUMN = /^ +\S.*? {2,}(?=\S)/
/** Explains what stands above it; less is that of code, which only the terminal may break. */
const EXPLANATION = /^ {6,}/
/** With less room than this, a column would become one of single words. */
const NARROWEST = 20

/**
 * A text of the help in lines of at most so many columns: paragraphs, each written as one line; tables, whose last column keeps
 * its place; explanations, which are indented by six; and code.
 */
export function fitted(text: string, columns: number): string {
  return text
    .split('\n')
    .flatMap((line) => {
      const isParagraph = !line.startsWith(' ')
      const [start] = isParagraph ? [''] : (FIRST_COLUMN.exec(line) ?? EXPLANATION.exec(line) ?? [])
      const room = columns - (start?.length ?? 0)
      if (start === undefined || room < NARROWEST) return [line]
      const [first = '', ...rest] = wrapped(line.slice(start.length), room)
      return [start + first, ...rest.map((next) => ' '.repeat(start.length) + next)]
    })
    .join('\n')
}
