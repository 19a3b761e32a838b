import { isEngineVariable, readReference } from '../template.js'
import { readBraced } from './braced.js'
import { readCommands } from './commands.js'
import { endOfArithmetic, skipArithmetic, skipBackticks, skipSubscript } from './opaque.js'
import { describe, type Quoting, references, type Scan, stop, type Word } from './scan.js'

const WORD_ENDS = ' \t\n;&|<>()'

/** Reads one word at the current position. */
export function readWord(scan: Scan): Word {
  const word = startWord(scan)
  const before = scan.found.length
  if (/^[<>]\(/.test(scan.text.slice(scan.at, scan.at + 2))) {
    scan.remarks.push({ kind: 'bash', what: 'process substitution', offset: scan.at })
    scan.at += 2
    readNested(scan, word)
  }
  readPieces(scan, word, 'bare', WORD_ENDS)
  word.found = scan.found.slice(before)
  return word
}

export function startWord({ at }: Scan): Word {
  return { offset: at, pieces: [], quoted: false, leads: true, brace: false, operands: 0, found: [] }
}

/** Reads up to one of `ends`, which it leaves, or to the end of the text. */
export function readPieces(scan: Scan, word: Word, quoting: Quoting, ends: string): void {
  while (scan.at < scan.end) {
    const character = scan.text.charAt(scan.at)
    if (ends.includes(character)) return
    if (character === '\\') readBackslash(scan, word, quoting)
    else if (character === '$') readDollar(scan, word, quoting)
    else if (character === '`') skipBackticks(scan, word)
    else if (character === '"' && quoting !== 'document') readDouble(scan, word)
    else if (character === "'" && quoting === 'bare') readSingle(scan, word)
    else {
      if (character === "'" && word.operands > 0)
        disagree(scan, scan.at, "' inside ${…} inside double quotes")
      scan.at += 1
      addText(word, character, character === '{' && quoting === 'bare')
    }
  }
}

/** Adds fixed text to a word. */
function addText(word: Word, text: string, brace = false): void {
  const last = word.pieces.at(-1)
  if (word.operands > 0) word.pieces.push(null)
  else if (typeof last === 'string') word.pieces[word.pieces.length - 1] = last + text
  else word.pieces.push(text)
  word.brace ||= brace && word.leads
  word.leads &&= word.brace
}

function readBackslash(scan: Scan, word: Word, quoting: Quoting): void {
  const next = scan.text.charAt(scan.at + 1)
  const escapes = quoting === 'bare' || '$`"\\\n'.includes(next)
  if (escapes && next !== '\n') word.quoted = true
  if (!escapes || next === '') addText(word, '\\')
  else if (next !== '\n') addText(word, next)
  scan.at += escapes ? 2 : 1
}

function readDouble(scan: Scan, word: Word): void {
  const opening = scan.at++
  word.quoted = true
  readPieces(scan, word, 'double', '"')
  if (scan.at >= scan.end) stop(scan, opening, 'This " is never closed.', 'ERR_QUOTE')
  scan.at += 1
}

/** A placeholder ends the author's quotes, stands in double ones, and opens them again. */
function readSingle(scan: Scan, word: Word): void {
  const opening = scan.at
  const end = scan.text.indexOf("'", opening + 1)
  if (end === -1 || end >= scan.end) stop(scan, opening, "This ' is never closed.", 'ERR_QUOTE')
  word.quoted = true
  scan.at += 1
  for (const { offset, backslashes } of references(scan.text, scan.at, end)) {
    if (offset > scan.at) addText(word, scan.text.slice(scan.at, offset))
    scan.at = offset
    if (backslashes % 2 === 1) scan.dropped.push(offset - 1)
    else readValue(scan, word, 'single')
  }
  if (end > scan.at) addText(word, scan.text.slice(scan.at, end))
  scan.at = end + 1
}

function readDollar(scan: Scan, word: Word, quoting: Quoting): void {
  const { text, at } = scan
  const next = text.charAt(at + 1)
  if (next === '{') {
    if (readReference(text, at) === undefined) readBraced(scan, word, quoting)
    else readValue(scan, word, quoting)
  } else if (text.startsWith('$((', at) && endOfArithmetic(scan, at + 3) !== undefined) {
    skipArithmetic(scan, at + 3)
    word.pieces.push(null)
  } else if (next === '(') {
    if (text.charAt(at + 2) === '(') disagree(scan, at, '$(( that is no arithmetic; write $( ( … ) )')
    scan.at += 2
    readNested(scan, word)
  } else if (quoting === 'bare' && (next === "'" || next === '"')) readDollarQuote(scan, word)
  else if (next === '[') {
    skipSubscript(scan, at + 1, 'arithmetic')
    word.pieces.push(null)
  } else readVariable(scan, word)
}

/** `$HOME`, `$1`, `$$`; a lone `$` is text. */
function readVariable(scan: Scan, word: Word): void {
  const { text, at } = scan
  const name = /^\$(?:[A-Za-z_]\w*|[\d@*#?$!-])/.exec(text.slice(at, scan.end))?.[0]
  if (name === undefined) {
    scan.at += 1
    addText(word, '$')
    return
  }
  if (name === '$$' && readReference(text, at + 1) !== undefined) {
    const message = '$$ is the number of the process, so ${ behind it begins no placeholder.'
    scan.problems.push(describe(scan, at, message, 'Write \\$ for a dollar sign.', 'ERR_PLACEHOLDER'))
  }
  if (/[\d@*#]$/.test(name)) scan.remarks.push({ kind: 'positional', what: name, offset: at })
  scan.at += name.length
  word.pieces.push(null)
}

/** Records a placeholder; what it is replaced by depends on where it stands. */
export function readValue(scan: Scan, word: Word, quoting: Quoting): void {
  const offset = scan.at
  const reference = readReference(scan.text, offset)
  if (reference === undefined) return
  const { name, modifier, length } = reference
  if (modifier !== undefined && modifier !== 'raw') {
    const message = `Unknown modifier :${modifier} in \${${name}:${modifier}}.`
    const hint =
      'The only modifier is :raw. For a part of a shell variable, write the offset with a digit or a $.'
    scan.problems.push(describe(scan, offset, message, hint, 'ERR_PLACEHOLDER'))
  }
  const found = { name, raw: modifier === 'raw', offset, length, quoting, leads: word.leads }
  scan.found.push(found)
  word.pieces.push(found)
  if (isEngineVariable(name)) word.leads &&= word.brace
  scan.at += length
}

/** `$( … )` and `<( … )`: commands by the same rules anew. */
function readNested(scan: Scan, word: Word): void {
  const opening = scan.at - 2
  const outer = scan.pending
  scan.pending = []
  readCommands(scan, [')'], opening)
  if (scan.pending.length > 0)
    stop(scan, opening, 'A here-document must be complete before the ) of its $( ).')
  scan.pending = outer
  word.pieces.push(null)
}

/** `$'…'` and `$"…"`: bash reads escapes in the one and translates the other, dash does neither. */
function readDollarQuote(scan: Scan, word: Word): void {
  const opening = scan.at
  const before = scan.found.length
  scan.remarks.push({ kind: 'bash', what: scan.text.slice(opening, opening + 2), offset: opening })
  scan.at += 1
  if (scan.text.charAt(scan.at) === '"') readDouble(scan, word)
  else readSingle(scan, word)
  const text = scan.text.slice(opening, scan.at)
  if (text.endsWith("\\'")) stop(scan, opening, "Shells disagree about where this $'…' ends.")
  for (const { name, offset } of scan.found.slice(before)) {
    const message = `\${${name}} stands in ${text.slice(0, 2)}…: shells disagree about what that means.`
    const hint = 'Write it in ordinary quotes; printf can make control characters.'
    scan.problems.push(describe(scan, offset, message, hint, 'ERR_SHELL_SYNTAX'))
  }
}

/** Shells read this differently, so nobody knows where a placeholder of this script stands. */
export function disagree(scan: Scan, offset: number, what: string): void {
  const message = `Shells disagree about ${what}, so the places of the placeholders are not certain.`
  scan.hazards.push(
    describe(
      scan,
      offset,
      message,
      'Write it another way, or move the script into a file.',
      'ERR_SHELL_SYNTAX',
    ),
  )
}
