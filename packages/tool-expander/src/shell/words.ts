import { isEngineVariable, readReference } from '../template.js'
import { readBraced } from './braced.js'
import { readCommands } from './commands.js'
import { endOfArithmetic, skipArithmetic, skipBackticks, skipSubscript } from './opaque.js'
import {
  complain,
  disagree,
  escapable,
  type Found,
  looksAt,
  neverClosed,
  type Quoting,
  type Scan,
  stop,
  take,
  type Word,
} from './scan.js'

const PROCESS_SUBSTITUTION = /[<>]\(/y
const PLAIN = /[\w./:=-]+|./sy

/** Reads one word at the current position. */
export function readWord(scan: Scan): Word {
  const word = startWord(scan)
  const before = scan.found.length
  const isShell = scan.path === 'shell'
  if (isShell && take(scan, PROCESS_SUBSTITUTION)) readNested(scan, word)
  readPieces(scan, word, 'bare', isShell ? ' \t\n;&|<>()' : ' \t\r\n')
  word.found = scan.found.slice(before)
  return word
}

export function startWord({ at }: Scan): Word {
  return { offset: at, pieces: [], quoted: false, leads: true, brace: false, operands: 0, found: [] }
}

/** Reads up to one of `ends`, which it leaves, or to the end of the text. */
export function readPieces(scan: Scan, word: Word, quoting: Quoting, ends: string): void {
  while (scan.at < scan.end) {
    const character = scan.template.charAt(scan.at)
    if (ends.includes(character)) return
    if (character === '\\') readBackslash(scan, word, quoting)
    else if (character === '$') readDollar(scan, word, quoting)
    else if (character === '`' && scan.path === 'shell') skipBackticks(scan, word)
    else if (character === '"' && quoting !== 'document') readDouble(scan, word)
    else if (character === "'" && quoting === 'bare') readSingle(scan, word)
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

function readBackslash(scan: Scan, word: Word, quoting: Quoting): void {
  const [next = '', behind] = scan.template.slice(scan.at + 1, scan.at + 3)
  const isExec = scan.path === 'exec'
  const isBare = quoting === 'bare'
  if (isExec && (isBare ? /^\n?$/.test(next) : next === '$' && behind !== '{')) {
    complain(scan, scan.at, 'ERR_QUOTE', 'This backslash escapes nothing.', 'Write \\\\ for a backslash.')
  }
  const escapes = isBare || (isExec ? '$"\\' : '$`"\\\n').includes(next)
  scan.at += 1 + (escapes ? next.length : 0)
  if (next === '\n' && escapes) return
  addText(word, escapes && next !== '' ? next : '\\')
  word.quoted = true
}

function readDouble(scan: Scan, word: Word): void {
  const opening = scan.at++
  word.quoted = true
  readPieces(scan, word, 'double', '"')
  if (scan.at >= scan.end) neverClosed(scan, opening, '"')
  scan.at += 1
}

/** A placeholder ends the author's quotes, stands in double ones, and opens them again. */
function readSingle(scan: Scan, word: Word): void {
  const opening = scan.at++
  const end = scan.template.indexOf("'", scan.at)
  if (end === -1 || end >= scan.end) neverClosed(scan, opening, "'")
  word.quoted = true
  const readText = (until: number) => {
    if (until > scan.at) addText(word, scan.template.slice(scan.at, until))
    scan.at = until
  }
  for (const { offset, isEscaped } of escapable(scan, end)) {
    readText(isEscaped ? offset - 1 : offset)
    if (isEscaped) scan.at += 1
    else readValue(scan, word, 'single')
  }
  readText(end)
  scan.at += 1
}

function readDollar(scan: Scan, word: Word, quoting: Quoting): void {
  const opening = scan.at
  if (readReference(scan.template, opening)) readValue(scan, word, quoting)
  else if (scan.path === 'exec') readLiteralDollar(scan, word)
  else if (looksAt(scan, /\$\{/y)) readBraced(scan, word, quoting)
  else if (looksAt(scan, /\$\(\(/y) && endOfArithmetic(scan)) skipArithmetic(scan, word)
  else if (take(scan, /\$\(/y)) {
    if (looksAt(scan, /\(/y)) disagree(scan, opening, '$(( that is no arithmetic; write $( ( … ) )')
    readNested(scan, word)
  } else if (quoting === 'bare' && take(scan, /\$(?=['"])/y)) readDollarQuote(scan, word)
  else if (looksAt(scan, /\$\[/y)) skipSubscript(scan, word, 'arithmetic')
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
    const message = '$$ is a process number; ${ behind it begins no placeholder.'
    complain(scan, offset, 'ERR_PLACEHOLDER', message, 'Write \\$ for a dollar sign.')
  }
}

/** Records a placeholder; what it is replaced by depends on where it stands. */
function readValue(scan: Scan, word: Word, quoting: Quoting): void {
  const { at: offset, template: text } = scan
  const reference = readReference(text, offset)
  if (!reference) return
  const { name, modifier, length } = reference
  const raw = modifier === 'raw'
  if (modifier && !raw) {
    const message = `Unknown modifier :${modifier} in ${text.slice(offset, offset + length)}.`
    complain(scan, offset, 'ERR_PLACEHOLDER', message, 'The only one is :raw.')
  }
  if (scan.inFunction) {
    const message = `\${${name}} stands in a function, where $1 is the function's own argument.`
    complain(scan, offset, 'ERR_SHELL_POSITIONAL', message)
  }
  const found: Found = { name, raw, offset, length, quoting, leads: word.leads }
  scan.found.push(found)
  word.pieces.push(found)
  if (isEngineVariable(name)) word.leads &&= word.brace
  scan.at += length
}

/** `$( … )` and `<( … )`: commands by the same rules anew. */
function readNested(scan: Scan, word: Word): void {
  const opening = scan.at - 2
  const { pending: outer, fedFrom } = scan
  scan.pending = []
  // Anything may feed a `>( … )`.
  if (scan.template.charAt(opening) === '>') scan.fedFrom = 0
  readCommands(scan, [')'], opening)
  scan.fedFrom = fedFrom
  if (scan.pending.length > 0) stop(scan, opening, 'A here-document inside $( ) must end before its ).')
  scan.pending = outer
  word.pieces.push(null)
}

/** `$'…'` and `$"…"`: bash reads escapes in the one and translates the other, dash does neither. */
function readDollarQuote(scan: Scan, word: Word): void {
  const opening = scan.at
  const before = scan.found.length
  if (looksAt(scan, /"/y)) readDouble(scan, word)
  else readSingle(scan, word)
  if (scan.template.startsWith("\\'", scan.at - 2))
    stop(scan, opening, "Shells disagree about where this $'…' ends.")
  for (const { offset } of scan.found.slice(before)) {
    const message = `Shells disagree about what $${scan.template.charAt(opening)} means.`
    complain(scan, offset, 'ERR_SHELL_SYNTAX', message, 'Use ordinary quotes.')
  }
}
