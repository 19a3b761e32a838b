import { readConditional } from './conditional.js'
import { readNewline } from './here-documents.js'
import { endOfArithmetic, skipArithmetic } from './opaque.js'
import { checkWords } from './rules.js'
import { describe, literalOf, type Scan, stop, type Word } from './scan.js'
import { readSimple } from './simple.js'
import { readWord } from './words.js'

/** Words that only group or separate commands. */
const NEUTRAL = ['then', 'else', 'elif', 'do', '!', 'time', 'coproc']
const CLOSERS = ['fi', 'done', 'esac', '}']
const ENDS: Record<string, string> = { if: 'fi', while: 'done', until: 'done', '{': '}' }

/**
 * Reads commands until one of `closers` ends them, steps over it and returns it; `''` is the end of the script.
 *
 * @param opening - Where the construct began, for the message when it never ends.
 */
export function readCommands(scan: Scan, closers: readonly string[], opening = scan.at): string {
  for (;;) {
    skipBlanks(scan)
    if (scan.at >= scan.end) {
      if (closers.includes('')) return ''
      stop(scan, opening, `This is never closed; ${closers.join(' or ')} is missing.`)
    }
    const operator = /^(?:;;&|;;|;&|&&|\|\||\|&|[;&|)])/.exec(scan.text.slice(scan.at, scan.at + 3))?.[0]
    if (operator === undefined || scan.text.startsWith('&>', scan.at)) {
      const closer = readCommand(scan, closers)
      if (closer !== undefined) return closer
    } else {
      scan.at += operator.length
      const closer = /^;./.test(operator) ? ';;' : operator
      if (closers.includes(closer)) return closer
      if (closer === ')' || closer === ';;')
        stop(scan, scan.at - operator.length, `${operator} closes nothing here.`)
      if (operator === '|&' || operator.endsWith(';&')) bash(scan, operator)
    }
  }
}

/** Reads one command, simple or compound. A closer is stepped over and returned. */
function readCommand(scan: Scan, closers: readonly string[]): string | undefined {
  const opening = scan.at
  if (scan.text.startsWith('((', opening) && endOfArithmetic(scan, opening + 2) !== undefined) {
    bash(scan, '((…))')
    skipArithmetic(scan, opening + 2)
    return undefined
  }
  if (scan.text.charAt(opening) === '(') {
    scan.at += 1
    readCommands(scan, [')'], opening)
    return undefined
  }
  const word = /[<>]|&>/.test(scan.text.slice(opening, opening + 1).replace('&', '&>'))
    ? undefined
    : readWord(scan)
  const name = word === undefined || word.quoted ? undefined : literalOf(word)
  if (word === undefined || name === undefined) readSimple(scan, word)
  else if (closers.includes(name)) return name
  else if (CLOSERS.includes(name)) stop(scan, opening, `${name} closes nothing here.`)
  else if (ENDS[name] !== undefined) readCommands(scan, [ENDS[name]], opening)
  else if (name === 'for' || name === 'select') readFor(scan, opening)
  else if (name === 'case') readCase(scan, opening)
  else if (name === '[[') readConditional(scan, opening)
  else if (name === 'function') {
    bash(scan, 'function')
    skipInline(scan)
    readWord(scan)
    readFunction(scan)
  } else if (!NEUTRAL.includes(name)) readSimple(scan, word)
  return undefined
}

/** Reads `()` and the body of a function. In there, `$1` is the function's own. */
export function readFunction(scan: Scan): void {
  scan.at += /^[ \t]*(?:\([ \t]*\))?/.exec(scan.text.slice(scan.at))?.[0].length ?? 0
  skipBlanks(scan)
  const before = scan.found.length
  const hazards = scan.hazards.length
  readCommand(scan, [])
  // In there, set and shift change the function's own arguments.
  const others = scan.hazards.splice(hazards).filter(({ code }) => code !== 'ERR_SHELL_POSITIONAL')
  scan.hazards.push(...others)
  for (const { name, offset } of scan.found.slice(before)) {
    const message = `\${${name}} stands in a function, where $1 is the function's own argument.`
    const hint = `Hand the value to the function: f() { echo "$1"; }; f \${${name}}.`
    scan.problems.push(describe(scan, offset, message, hint, 'ERR_SHELL_POSITIONAL'))
  }
}

function readFor(scan: Scan, opening: number): void {
  skipInline(scan)
  if (scan.text.startsWith('((', scan.at)) {
    bash(scan, 'for ((…))')
    skipArithmetic(scan, scan.at + 2)
  } else {
    const variable = literalOf(readWord(scan))
    if (variable === undefined) stop(scan, opening, 'The variable of this loop must be a fixed name.')
    scan.remarks.push({ kind: 'assigned', what: variable, offset: opening })
    skipBlanks(scan)
    if (/^in\s/.test(scan.text.slice(scan.at, scan.at + 3))) {
      scan.at += 2
      const words: Word[] = []
      for (skipInline(scan); !atEnd(scan); skipInline(scan)) words.push(readOperand(scan))
      checkWords(scan, words)
    }
  }
  readCommands(scan, ['done'], opening)
}

function readCase(scan: Scan, opening: number): void {
  skipInline(scan)
  readWord(scan)
  skipBlanks(scan)
  if (literalOf(readWord(scan)) !== 'in') stop(scan, opening, 'The in of this case is missing.')
  for (;;) {
    skipBlanks(scan)
    if (/^esac(?![^\s;&|()<>])/.test(scan.text.slice(scan.at, scan.at + 5))) {
      scan.at += 4
      return
    }
    if (scan.text.charAt(scan.at) === '(') scan.at += 1
    do {
      skipInline(scan)
      readOperand(scan)
      skipInline(scan)
    } while (scan.text.charAt(scan.at) === '|' && scan.at++ < scan.end)
    if (scan.text.charAt(scan.at) !== ')') stop(scan, scan.at, 'The ) of this case pattern is missing.')
    scan.at += 1
    if (readCommands(scan, [';;', 'esac'], opening) === 'esac') return
  }
}

/** A word that must be there. */
export function readOperand(scan: Scan): Word {
  const word = readWord(scan)
  if (word.pieces.length === 0 && !word.quoted) stop(scan, scan.at, 'The shell expects a word here.')
  return word
}

/** Blanks and continued lines. */
export function skipInline(scan: Scan): void {
  scan.at += /^(?:[ \t]|\\\n)*/.exec(scan.text.slice(scan.at, scan.end))?.[0].length ?? 0
}

/** Blanks, comments and newlines, with the here-documents behind them. */
export function skipBlanks(scan: Scan): void {
  for (;;) {
    skipInline(scan)
    if (scan.text.charAt(scan.at) === '#' && scan.at < scan.end) skipComment(scan)
    if (scan.text.charAt(scan.at) !== '\n' || scan.at >= scan.end) return
    readNewline(scan)
  }
}

export function skipComment(scan: Scan): void {
  const newline = scan.text.indexOf('\n', scan.at)
  scan.at = newline === -1 ? scan.end : Math.min(newline, scan.end)
}

/** True where a simple command ends. */
export function atEnd(scan: Scan): boolean {
  if (scan.at < scan.end && scan.text.charAt(scan.at) === '#') skipComment(scan)
  const character = scan.text.charAt(scan.at)
  return (
    scan.at >= scan.end ||
    '\n;|)'.includes(character) ||
    (character === '&' && !scan.text.startsWith('&>', scan.at))
  )
}

export function bash(scan: Scan, what: string, offset = scan.at): void {
  scan.remarks.push({ kind: 'bash', what, offset })
}
