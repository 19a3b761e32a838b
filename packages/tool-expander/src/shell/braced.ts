import { skipSubscript } from './opaque.js'
import { looksAt, neverClosed, type Quoting, refuse, type Scan, stop, take, type Word } from './scan.js'
import { readPieces } from './words.js'

/** Reads a parameter expansion of the shell's own: `${x:-word}`, `${#x}`, `${x%.txt}`, `${10}`. */
export function readBraced(scan: Scan, word: Word, quoting: Quoting): void {
  const offset = scan.at
  const before = scan.found.length
  const name = take(scan, /\$\{[#!]?(?:[A-Za-z_]\w*|\d+|[@*#?$!-])/y).replace(/^\$\{[#!]?/, '')
  if (!name) stop(scan, offset, 'Neither a placeholder nor an expansion of the shell.', 'ERR_PLACEHOLDER')
  scan.expanded.push({ name, offset })
  word.pieces.push(null)
  if (looksAt(scan, /\[/y)) skipSubscript(scan, word)

  const fallback = take(scan, /:?[-=+?]/y)
  const removal = fallback ? '' : take(scan, /##?|%%?/y)
  const { leads } = word
  word.operands += 1
  readPieces(scan, word, fallback ? quoting : 'bare', '}')
  word.operands -= 1
  word.leads = leads
  if (!looksAt(scan, /\}/y)) neverClosed(scan, offset, '${')
  scan.at += 1

  const found = scan.found.slice(before)
  if (!fallback && !removal) refuse(scan, found, 'an expansion that computes or rewrites')
  // dash and bash disagree about quotes around such a pattern.
  else if (removal && quoting === 'document') refuse(scan, found, 'a pattern inside a here-document')
}
