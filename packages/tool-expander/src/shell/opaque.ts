import { type Scan, skipTo, stop, type Word } from './scan.js'

// Text no placeholder may stand in: the shell computes it, or reads it by rules of its own.

const ARITHMETIC_HINT =
  'Check the number outside and assign it: case ${n} in *[!0-9]*) exit 1;; esac; n=${n}; … $((n + 1)).'

/** The offset behind the `))` that closes an arithmetic expression; undefined when these are nested parentheses. */
export function endOfArithmetic({ text, end }: Scan, start: number): number | undefined {
  let depth = 0
  for (let offset = start; offset < end; offset++) {
    const character = text.charAt(offset)
    if (character === '(') depth += 1
    else if (character === ')' && depth > 0) depth -= 1
    else if (character === ')') return text.charAt(offset + 1) === ')' ? offset + 2 : undefined
  }
  return undefined
}

/** Skips `$((…))` or `((…))` from behind its opening. */
export function skipArithmetic(scan: Scan, start: number): void {
  const end = endOfArithmetic(scan, start) ?? scan.end
  if (/['"`\\]/.test(scan.text.slice(start, end)))
    stop(scan, start - 2, 'Quotes inside arithmetic cannot be followed.')
  scan.at = start
  skipTo(scan, end, 'arithmetic', ARITHMETIC_HINT)
}

/** Skips `[…]`, which bash computes; `$[…]` is its old arithmetic. */
export function skipSubscript(scan: Scan, opening: number, place = 'an array subscript'): void {
  let depth = 0
  let offset = opening
  for (; offset < scan.end; offset++) {
    const character = scan.text.charAt(offset)
    if (character === '[') depth += 1
    if (character === ']' && --depth === 0) break
  }
  skipTo(scan, Math.min(offset + 1, scan.end), place, 'Use a name or a number of your own here.')
}

/** Skips `` `…` ``: a backslash in it means something else at each level. */
export function skipBackticks(scan: Scan, word: Word): void {
  const opening = scan.at
  let end = opening + 1
  while (end < scan.end && scan.text.charAt(end) !== '`') end += scan.text.charAt(end) === '\\' ? 2 : 1
  if (end >= scan.end) stop(scan, opening, 'This ` is never closed.', 'ERR_QUOTE')
  skipTo(scan, end + 1, 'backticks', 'Write $( … ) instead; placeholders are safe in there.')
  word.pieces.push(null)
}
