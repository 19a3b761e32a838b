import { skipSubscript } from './opaque.js'
import { type Quoting, refuse, type Scan, stop, type Word } from './scan.js'
import { readPieces } from './words.js'

/** Reads a parameter expansion of the shell's own: `${x:-word}`, `${#x}`, `${x%.txt}`, `${10}`. */
export function readBraced(scan: Scan, word: Word, quoting: Quoting): void {
  const opening = scan.at
  const match = /^\$\{([#!]?)([A-Za-z_]\w*|\d+|[@*#?$!-])/.exec(scan.text.slice(opening, scan.end))
  const name = match?.[2]
  if (match === null || name === undefined) {
    stop(scan, opening, 'Neither a placeholder nor an expansion of the shell.', 'ERR_PLACEHOLDER')
  }
  scan.expanded.push({ name, offset: opening })
  scan.at += match[0].length
  if (scan.text.charAt(scan.at) === '[') {
    scan.remarks.push({ kind: 'bash', what: 'arrays', offset: opening })
    skipSubscript(scan, scan.at)
  }
  word.pieces.push(null)
  const { leads } = word
  word.operands += 1
  readOperand(scan, word, quoting, match[1] === '!')
  word.operands -= 1
  word.leads = leads
  if (scan.text.charAt(scan.at) !== '}') stop(scan, opening, 'This ${ is never closed.', 'ERR_QUOTE')
  scan.at += 1
}

function readOperand(scan: Scan, word: Word, quoting: Quoting, indirect: boolean): void {
  const operator = /^(?::?[-=+?]|##?|%%?)?/.exec(scan.text.slice(scan.at, scan.end))?.[0] ?? ''
  const plain = scan.text.charAt(scan.at) === '}'
  const before = scan.found.length
  scan.at += operator.length

  const opening = scan.at
  const isPattern = !/[-=+?]$/.test(operator)
  readPieces(scan, word, isPattern ? 'bare' : quoting, '}')
  const found = scan.found.slice(before)
  if (operator === '' && (!plain || indirect)) {
    scan.remarks.push({ kind: 'bash', what: `\${…${scan.text.charAt(opening)}…}`, offset: opening })
    refuse(
      scan,
      found,
      'an expansion that computes or rewrites',
      'Let sed, awk or cut do it, with the value as an argument.',
    )
  }
  if (isPattern && quoting === 'document') {
    refuse(scan, found, 'a pattern inside a here-document', 'Expand it before, into a variable.')
  }
}
