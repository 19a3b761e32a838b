import { namesOf, RUN_LATER } from '../programs.js'
import { readConditional } from './conditional.js'
import { readNewline } from './here-documents.js'
import { skipArithmetic } from './opaque.js'
import { disagree, looksAt, missing, next, type Scan, stop, take, type Word } from './scan.js'
import { REDIRECTION, readSimple } from './simple.js'
import { readWord } from './words.js'

/** Words that only group or separate commands. */
const NEUTRAL = namesOf('then else elif do !')
const CLOSERS = namesOf('fi done esac }')
// Patterns used at every word are made once.
const BLANKS = /(?:[ \t]|\\\n)+/y
const COMMENT = /#[^\n]*/y
const COMMAND_END = /[\n;|)]|&(?!>)/y
const OPERATOR = /;;?&?|&&|\|[|&]?|&(?!>)|\)/y
const IN = /in(?=[ \t\n\\])/y
const ENDS = new Map([
  ['if', 'fi'],
  ['while', 'done'],
  ['until', 'done'],
  ['{', '}'],
])

/**
 * Reads commands until one of `closers` ends them, steps over it and returns it; `''` is the end of the script.
 *
 * @param opening - Where the construct began, for the message when it never ends.
 */
export function readCommands(scan: Scan, closers: readonly string[], opening = scan.at): string {
  const { fedFrom } = scan
  let start = scan.found.length
  let isPipe = false
  for (;;) {
    if (skipBlanks(scan) && !isPipe) {
      scan.fedFrom = fedFrom
      start = scan.found.length
    }
    if (scan.at >= scan.end) {
      if (closers.includes('')) return ''
      missing(scan, opening, closers.join(' or '))
    }
    const offset = scan.at
    const operator = take(scan, OPERATOR)
    isPipe = operator === '|' || operator === '|&'
    if (operator) scan.fedFrom = isPipe ? Math.min(start, fedFrom) : fedFrom
    if (operator && !isPipe) start = scan.found.length
    const closer = /^;./.test(operator) ? ';;' : operator || readCommand(scan, closers)
    if (closer && closers.includes(closer)) return closer
    if (operator === ')' || closer === ';;') stop(scan, offset, `This ${operator}`)
  }
}

/** Reads one command, simple or compound. A closer is stepped over and returned. */
function readCommand(scan: Scan, closers: readonly string[]): string | undefined {
  const opening = scan.at
  if (next(scan) === '(') {
    if (skipArithmetic(scan)) return undefined
    scan.at += 1
    if (next(scan) === '(') disagree(scan, opening, 'these ((; write ( (')
    readCommands(scan, [')'], opening)
  } else if (looksAt(scan, REDIRECTION)) readSimple(scan)
  else {
    const word = readWord(scan)
    const name = word.quoted ? '' : word.shape
    const end = ENDS.get(name)
    if (name && closers.includes(name)) return name
    if (CLOSERS.has(name)) stop(scan, opening, `This ${name}`)
    if (end) readCommands(scan, [end], opening)
    else if (name === 'for' || name === 'select') readFor(scan, opening)
    else if (name === 'case') readCase(scan, opening)
    else if (name === '[[') readConditional(scan, opening)
    else if (name === 'function') {
      skipInline(scan)
      readWord(scan)
      readFunction(scan)
    } else if (name === 'time') {
      for (skipInline(scan); next(scan) === '-'; skipInline(scan)) {
        const option = readWord(scan)
        // Behind another option it is a program, but in bash.
        if (!/^-[-p]$/.test(option.shape)) return readSimple(scan, word, option)
      }
    } else if (name === 'coproc') disagree(scan, opening, name)
    else if (!NEUTRAL.has(name)) readSimple(scan, word)
  }
  return undefined
}

/** Reads `()` and the body of a function. In there, `$1` is the function's own. */
export function readFunction(scan: Scan): void {
  skipInline(scan)
  take(scan, /\((?:[ \t]|\\\n)*\)/y)
  skipBlanks(scan)
  const { inFunction } = scan
  scan.inFunction = true
  readCommand(scan, [])
  skipInline(scan)
  // What is redirected behind the body is expanded at each call.
  if (looksAt(scan, REDIRECTION)) readSimple(scan)
  scan.inFunction = inFunction
}

/** The words behind `in` are checked like those of a command. */
function readFor(scan: Scan, opening: number): void {
  skipInline(scan)
  if (!skipArithmetic(scan)) {
    const name = readWord(scan).shape
    if (name.includes('\0')) missing(scan, opening, 'The variable of this loop')
    skipBlanks(scan)
    if (looksAt(scan, IN)) readSimple(scan)
    if (RUN_LATER.test(`${name}=`)) disagree(scan, opening, name)
  }
  readCommands(scan, ['done'], opening)
}

function readCase(scan: Scan, opening: number): void {
  skipInline(scan)
  readOperand(scan)
  skipBlanks(scan)
  if (!take(scan, IN)) missing(scan, opening, 'in')
  for (;;) {
    skipBlanks(scan)
    const isPattern = take(scan, /\(/y)
    skipInline(scan)
    const { shape, quoted } = readOperand(scan)
    if (!isPattern && shape === 'esac' && !quoted) return
    for (skipInline(scan); take(scan, /\|/y); skipInline(scan)) {
      skipInline(scan)
      readOperand(scan)
    }
    if (!take(scan, /\)/y)) missing(scan, scan.at, ')')
    if (readCommands(scan, [';;', 'esac'], opening) === 'esac') return
  }
}

/** A word that must be there. */
export function readOperand(scan: Scan): Word {
  const word = readWord(scan)
  if (word.pieces.length === 0 && !word.quoted) missing(scan, word.offset, 'A word')
  return word
}

/** Blanks and continued lines. */
export function skipInline(scan: Scan): void {
  take(scan, BLANKS)
}

/** Blanks, comments and newlines, with the here-documents behind them; true where a line ended. */
export function skipBlanks(scan: Scan): boolean {
  for (let hasEnded = false; ; hasEnded = true) {
    skipInline(scan)
    skipComment(scan)
    if (next(scan) !== '\n') return hasEnded
    readNewline(scan)
  }
}

function skipComment(scan: Scan): void {
  if (next(scan) === '#') take(scan, COMMENT)
}

/** True where a simple command ends. */
export function atEnd(scan: Scan): boolean {
  skipComment(scan)
  return scan.at >= scan.end || looksAt(scan, COMMAND_END)
}
