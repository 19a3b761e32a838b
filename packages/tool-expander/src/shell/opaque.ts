import { type Scan, skipTo, stop, type Word } from './scan.js'

// Text no placeholder may stand in: the shell computes it, or reads it by rules of its own.

const ARITHMETIC_HINT = 'Check and assign it: case ${n} in *[!0-9]*) exit 1;; esac; n=${n}; … $((n+1))'

/** The offset behind the `))` of the arithmetic that begins here; undefined when these are nested parentheses. */
export function endOfArithmetic({ text, at, end }: Scan): number | undefined {
  let depth = 0
  for (let offset = text.indexOf('((', at) + 2; offset < end; offset++) {
    const character = text.charAt(offset)
    if (character === '(') depth += 1
    else if (character === ')' && depth-- === 0)
      return text.charAt(offset + 1) === ')' ? offset + 2 : undefined
  }
  return undefined
}

/** Skips `$((…))` or `((…))`. */
export function skipArithmetic(scan: Scan, word?: Word): void {
  const end = endOfArithmetic(scan) ?? scan.end
  if (/['"`\\]/.test(scan.text.slice(scan.at, end)))
    stop(scan, scan.at, 'Quotes inside arithmetic cannot be followed.')
  skipTo(scan, end, 'arithmetic', ARITHMETIC_HINT)
  word?.pieces.push(null)
}

/** Skips `[…]`, which bash computes; `$[…]` is its old arithmetic. */
export function skipSubscript(scan: Scan, word: Word, place = 'an array subscript'): void {
  let depth = 0
  let offset = scan.at
  do {
    const character = scan.text.charAt(offset)
    if (character === '[') depth += 1
    if (character === ']') depth -= 1
  } while (++offset < scan.end && (depth > 0 || offset === scan.at + 1))
  skipTo(scan, offset, place)
  word.pieces.push(null)
}

/** Skips `` `…` ``: a backslash in it means something else at each level. */
export function skipBackticks(scan: Scan, word: Word): void {
  const pattern = /`(?:\\.|[^\\`])*`/sy
  pattern.lastIndex = scan.at
  const end = scan.at + (pattern.exec(scan.text)?.[0].length ?? Number.POSITIVE_INFINITY)
  if (end > scan.end) stop(scan, scan.at, 'This ` is never closed.', 'ERR_QUOTE')
  skipTo(scan, end, 'backticks', 'Write $( … ) instead; placeholders are safe in there.')
  word.pieces.push(null)
}
