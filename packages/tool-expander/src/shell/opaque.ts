import { matchAt, openings } from '../template.js'
import { disagree, refuse, type Scan, stop, take, unclosed, type Word } from './scan.js'
import { readValue, startWord } from './words.js'

// Text no placeholder may stand in: the shell computes it, or reads it by rules of its own.

/** What to write where a value would be computed. */
export const CHECK_NUMBER = 'Say type: integer, or compare with =.'

const ARITHMETIC = /\$?\(\(/y

/** The offset behind the bracket that closes the one at `start`, or the end. */
function behindBracket({ template: text, end }: Scan, start: number): number {
  const [opening, closing] = text.charAt(start) === '(' ? '()' : '[]'
  let depth = 0
  for (let offset = start; offset < end; offset++) {
    const character = text.charAt(offset)
    if (character === opening) depth += 1
    else if (character === closing && --depth === 0) return offset + 1
  }
  return end
}

/** Skips `$((…))` or `((…))`; false when there is none, or these are nested parentheses. */
export function skipArithmetic(scan: Scan, word?: Word): boolean {
  const opening = matchAt(ARITHMETIC, scan.template, scan.at)?.[0]
  const inner = opening && behindBracket(scan, scan.at + opening.length - 1)
  if (!inner || inner >= scan.end || scan.template.charAt(inner) !== ')') return false
  if (/['"`\\]|\s#/.test(scan.template.slice(scan.at, inner))) stop(scan, scan.at, 'Quotes in arithmetic')
  // Other shells than bash read ((1<<2)) as a here-document in two groups.
  const [, delimiter] = (!word && /<<-?\s*([^\s()<]+)/.exec(scan.template.slice(scan.at, inner))) || []
  if (delimiter && scan.template.slice(inner).split(/\n\t*/).includes(delimiter))
    disagree(scan, scan.at, 'this <<')
  skipTo(scan, inner + 1, word, 'arithmetic', CHECK_NUMBER)
  return true
}

/** Skips `[…]`, which bash computes; `$[…]` is its old arithmetic. */
export function skipSubscript(scan: Scan, word: Word, place = 'an array subscript'): void {
  skipTo(scan, behindBracket(scan, scan.template.indexOf('[', scan.at)), word, place, CHECK_NUMBER)
}

/** Skips `` `…` ``: a backslash in it means something else at each level. */
export function skipBackticks(scan: Scan, word: Word): void {
  const { at } = scan
  const end = at + take(scan, /`(?:\\.|[^\\`])*`/sy).length
  if (end === at || end > scan.end) unclosed(scan, at, '`')
  scan.at = at
  skipTo(scan, end, word, 'backticks', 'Write $( … ).')
}

/** Skips text that is computed, and refuses values in it that could be code. Quotes in it are not followed. */
function skipTo(scan: Scan, end: number, word: Word | undefined, place: string, hint?: string): void {
  const all = openings(scan.template, scan.at, end)
  refuse(scan, all, place, hint)
  const isQuoted = /['"`\\]/.test(scan.template.slice(scan.at, end))
  for (const reference of all) {
    if (!scan.plain.has(reference.name)) continue
    if (isQuoted) stop(scan, reference.offset, `Quotes in ${place}`)
    scan.at = reference.offset
    readValue(scan, startWord(scan), 'double', reference)
  }
  scan.at = end
  word?.pieces.push(null)
}
