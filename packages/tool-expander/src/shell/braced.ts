import { matchAt } from '../template.js'
import { skipSubscript } from './opaque.js'
import { complain, giveUp, next, type Quoting, refuse, type Scan, take, unclosed, type Word } from './scan.js'
import { readPieces } from './words.js'

const QUOTE_IT = 'Put it in double quotes.'
const OF_BASH = `Hand it over as an argument: bash -c 'echo "\${1/"$2"/"$3"}"' _ "$x" \${old} \${new}`
const BEGINNING = /\$\{[#!]?([A-Za-z_]\w*|\d+|[@*#?!-]|\$(?!\{))/y

/** Reads a parameter expansion of the shell's own: `${x:-word}`, `${#x}`, `${x%.txt}`, `${10}`. */
export function readBraced(scan: Scan, word: Word, quoting: Quoting): void {
  const { at: offset, found } = scan
  const before = found.length
  const [written = '', name] = matchAt(BEGINNING, scan.template, offset) ?? []
  if (!name) giveUp(scan, offset, 'ERR_PLACEHOLDER', 'This is not a placeholder.')
  scan.at += written.length
  scan.expanded.push({ name, offset })
  word.pieces.push(null)
  if (next(scan) === '[') skipSubscript(scan, word)

  const operator = take(scan, /:?[-=+?]|##?|%%?|\//y)
  const isPattern = /[#%/]/.test(operator)
  const { leads } = word
  word.operands += 1
  readPieces(scan, word, operator && !isPattern ? quoting : 'bare', '}')
  word.operands -= 1
  word.leads = leads
  if (!take(scan, /\}/y)) unclosed(scan, offset, '}')

  // What it becomes is the variable, and no longer a word in quotes.
  if (quoting === 'bare' && operator.endsWith('=') && found.length > before)
    complain(scan, offset, 'ERR_SHELL_SYNTAX', 'The shell splits what this becomes.', QUOTE_IT)
  if (!operator) refuse(scan, found.slice(before), 'an expansion that computes or rewrites')
  if (operator === '/') refuse(scan, found.slice(before), '${…/…}', OF_BASH, "bash's pattern or replacement")
  // dash and bash disagree about quotes around such a pattern.
  else if (isPattern && quoting === 'document')
    refuse(scan, found.slice(before), 'a pattern in a here-document')
}
