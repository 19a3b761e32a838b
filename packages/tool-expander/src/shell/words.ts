import { shapeOf } from '../command-words.js'
import { isEngineVariable, type Reference, readReference } from '../template.js'
import { readBraced } from './braced.js'
import { readCommands } from './commands.js'
import { skipArithmetic, skipBackticks, skipSubscript } from './opaque.js'
import {
  complain,
  disagree,
  type Found,
  next,
  type Quoting,
  type Scan,
  stop,
  take,
  unclosed,
  type Word,
} from './scan.js'

const PROCESS_SUBSTITUTION = /[<>]\(/y
const PLAIN = /[\w./:=-]+|./sy
const BACKSLASHES = /\\+/y
const FIXED = /[^\\$'\n]+|./sy
const REMOVE = 'Remove it: lines go on without.'
const IN_FIXED = [
  'a here-document with a quoted delimiter',
  'For a value remove these quotes; for literal text write \\${.',
] as const
const IN_FUNCTION = ['a function, which has its own $1'] as const

// V8 makes a literal that holds others in its runtime, which costs more than reading the word.
const NONE: Found[] = []

/** Reads one word at the current position. */
export function readWord(scan: Scan): Word {
  const word = startWord(scan)
  const before = scan.found.length
  const isShell = scan.path === 'shell'
  do readPieces(scan, word, 'bare', isShell ? ' \t\n;&|<>()' : ' \t\r\n')
  while (isShell && take(scan, PROCESS_SUBSTITUTION) && readNested(scan, word))
  word.shape = shapeOf(word.pieces)
  if (scan.found.length > before) word.found = scan.found.slice(before)
  return word
}

export function startWord({ at }: Scan): Word {
  const pieces: Word['pieces'] = []
  return {
    offset: at,
    pieces,
    shape: '',
    quoted: false,
    leads: true,
    brace: false,
    operands: 0,
    found: NONE,
  }
}

/** Reads up to one of `ends`, which it leaves, or to the end of the text. */
export function readPieces(scan: Scan, word: Word, quoting: Quoting, ends: string): void {
  const isFixed = quoting === 'single' || quoting === 'fixed'
  while (scan.at < scan.end) {
    const character = scan.template.charAt(scan.at)
    if (ends.includes(character)) return
    if (isFixed) readFixed(scan, word, quoting)
    else if (character === '\\') readBackslash(scan, word, quoting)
    else if (character === '$') readDollar(scan, word, quoting)
    else if (character === '`' && scan.path === 'shell') skipBackticks(scan, word)
    else if (character === '"' && quoting !== 'document') readQuoted(scan, word, 'double', character)
    else if (character === "'" && quoting === 'bare') readQuoted(scan, word, 'single', character)
    else {
      if (character === "'" && word.operands > 0)
        disagree(scan, scan.at, "' inside ${…} inside double quotes")
      addText(word, take(scan, PLAIN), character === '{' && quoting === 'bare' && scan.path === 'shell')
    }
  }
}

/** Adds fixed text to a word. */
function addText(word: Word, text: string, brace = false): void {
  const { pieces } = word
  const last = pieces.at(-1)
  if (word.operands > 0) pieces.push(null)
  else if (typeof last === 'string') pieces[pieces.length - 1] = last + text
  else pieces.push(text)
  word.brace ||= brace && word.leads
  word.leads &&= word.brace
}

/** Inside single quotes a backslash means nothing, but the one that makes a placeholder text is dropped. */
function readFixed(scan: Scan, word: Word, quoting: Quoting): void {
  const backslashes = take(scan, BACKSLASHES)
  const reference = readReference(scan.template, scan.at)
  if (reference && backslashes.length % 2 === 1) {
    scan.edits.push({ offset: scan.at - 1, length: 1 })
    addText(word, backslashes.slice(1) + take(scan, FIXED))
  } else if (reference && !backslashes) readValue(scan, word, quoting, reference)
  else addText(word, backslashes || take(scan, FIXED))
}

function readBackslash(scan: Scan, word: Word, quoting: Quoting): void {
  const [escaped = '', behind] = scan.template.slice(scan.at + 1, scan.at + 3)
  const isExec = scan.path === 'exec'
  const isBare = quoting === 'bare'
  if (isExec && (isBare ? /^\n?$/.test(escaped) : escaped === '$' && behind !== '{')) {
    complain(scan, scan.at, 'ERR_QUOTE', 'This backslash escapes nothing.', REMOVE)
  }
  const escapes = isBare || (isExec ? '$"\\' : '$`"\\\n').includes(escaped)
  scan.at += 1 + (escapes ? escaped.length : 0)
  if (escaped === '\n' && escapes) return
  addText(word, (escapes && escaped) || '\\')
  word.quoted = true
}

/**
 * In single quotes a placeholder ends the author's quotes, stands in double ones, and opens them again.
 *
 * In `$'…'` bash reads escapes and it translates `$"…"`; dash does neither.
 */
function readQuoted(scan: Scan, word: Word, quoting: Quoting, quote: string): void {
  const opening = scan.at++
  const before = scan.found.length
  word.quoted = true
  readPieces(scan, word, quoting, quote)
  if (scan.at >= scan.end) unclosed(scan, opening, quote)
  scan.at += 1
  if (scan.path === 'exec' || scan.template.charAt(opening - 1) !== '$') return
  if (scan.template.startsWith("\\'", scan.at - 2)) stop(scan, opening, "This $'…'")
  const found = scan.found[before]
  if (found) disagree(scan, found.offset, `what $${quote} means`)
}

function readDollar(scan: Scan, word: Word, quoting: Quoting): void {
  const opening = scan.at
  const reference = readReference(scan.template, opening)
  const behind = scan.template.charAt(opening + 1)
  if (reference) readValue(scan, word, quoting, reference)
  else if (scan.path === 'exec') readLiteralDollar(scan, word)
  else if (behind === '{') readBraced(scan, word, quoting)
  else if (skipArithmetic(scan, word)) return
  else if (behind === '(') {
    scan.at += 2
    if (next(scan) === '(') disagree(scan, opening, '$(( that is no arithmetic')
    readNested(scan, word)
  } else if (quoting === 'bare' && /['"]/.test(behind))
    scan.at += 1 // readQuoted knows of it
  else if (behind === '[') skipSubscript(scan, word, 'arithmetic')
  else readVariable(scan, word)
}

/** In `exec:` a `$` is text; what a shell would expand is refused. */
function readLiteralDollar(scan: Scan, word: Word): void {
  const { at } = scan
  const text = take(scan, /\$(?:[A-Za-z_]\w*)?/y)
  addText(word, text)
  if (text !== '$') complain(scan, at, 'ERR_EXEC_VARIABLE', `Nothing expands ${text} in exec: mode.`)
}

/** `$HOME`, `$1`, `$$`; a lone `$` is text. */
function readVariable(scan: Scan, word: Word): void {
  const offset = scan.at
  const name = take(scan, /\$(?:[A-Za-z_]\w*|[\d@*#?$!-]|)/y)
  if (name === '$') {
    addText(word, name)
    return
  }
  word.pieces.push(null)
  scan.expanded.push({ name, offset })
  if (name === '$$' && readReference(scan.template, offset + 1)) {
    const message = '$$ is a process number.'
    complain(scan, offset, 'ERR_PLACEHOLDER', message)
  }
}

/** Records a placeholder; what it is replaced by depends on where it stands. */
export function readValue(scan: Scan, word: Word, quoting: Quoting, reference: Reference): void {
  const { at: offset } = scan
  const { name, modifier, length } = reference
  const raw = modifier === 'raw'
  if (modifier && !raw) {
    complain(scan, offset, 'ERR_PLACEHOLDER', `Unknown modifier :${modifier}; there is only :raw.`)
  }
  const place = quoting === 'fixed' ? IN_FIXED : scan.inFunction && IN_FUNCTION
  if (place) complain(scan, offset, 'ERR_SHELL_POSITIONAL', `\${${name}} stands in ${place[0]}.`, place[1])
  const found: Found = { name, raw, offset, length, quoting, leads: word.leads }
  scan.found.push(found)
  scan.edits.push(found)
  word.pieces.push(found)
  if (isEngineVariable(name)) word.leads &&= word.brace
  scan.at += length
}

/** `$( … )` and `<( … )`: commands by the same rules anew. */
function readNested(scan: Scan, word: Word): true {
  const opening = scan.at - 2
  const { pending: outer, fedFrom, inOutput } = scan
  scan.pending = []
  // Anything may feed a `>( … )`.
  if (scan.template.charAt(opening) === '>') {
    scan.fedFrom = 0
    scan.inOutput = true
  }
  readCommands(scan, [')'], opening)
  scan.fedFrom = fedFrom
  scan.inOutput = inOutput
  if (scan.pending.length > 0) stop(scan, opening, 'This here-document')
  scan.pending = outer
  word.pieces.push(null)
  return true
}
