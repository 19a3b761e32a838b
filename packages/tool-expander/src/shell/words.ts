import { shapeOf } from '../programs.js'
import { isEngineVariable, matchAt, openings, type Reference, readReference } from '../template.js'
import { readCommands } from './commands.js'
import {
  complain,
  disagree,
  type Found,
  giveUp,
  type HereDocument,
  next,
  type Quoting,
  refuse,
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

function startWord({ at }: Scan): Word {
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
function readPieces(scan: Scan, word: Word, quoting: Quoting, ends: string): void {
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
function readValue(scan: Scan, word: Word, quoting: Quoting, reference: Reference): void {
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

const QUOTE_IT = 'Put it in double quotes.'
const OF_BASH = `Hand it over as an argument: bash -c 'echo "\${1/"$2"/"$3"}"' _ "$x" \${old} \${new}`
const BEGINNING = /\$\{[#!]?([A-Za-z_]\w*|\d+|[@*#?!-]|\$(?!\{))/y

/** Reads a parameter expansion of the shell's own: `${x:-word}`, `${#x}`, `${x%.txt}`, `${10}`. */
function readBraced(scan: Scan, word: Word, quoting: Quoting): void {
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

// Text no placeholder may stand in: the shell computes it, or reads it by rules of its own.

/** What to write where a value would be computed. */
export const CHECK_NUMBER = 'Say type: integer, or compare with =.'

const ARITHMETIC = /\$?\(\(/y

/** The offset behind the bracket that closes the one at `start`, or the end. */
function behindBracket({ template: text, end }: Scan, start: number): number {
  const [opening, closing] = text.charAt(start) === '(' ? '()' : '[]'
  let depth = 0
  for (let offset = start; offset < end; offset++) {
    const character = text.charAt(offset)
    if (character === opening) depth += 1
    else if (character === closing && --depth === 0) return offset + 1
  }
  return end
}

/** Skips `$((…))` or `((…))`; false when there is none, or these are nested parentheses. */
export function skipArithmetic(scan: Scan, word?: Word): boolean {
  const opening = matchAt(ARITHMETIC, scan.template, scan.at)?.[0]
  const inner = opening && behindBracket(scan, scan.at + opening.length - 1)
  if (!inner || inner >= scan.end || scan.template.charAt(inner) !== ')') return false
  if (/['"`\\]|\s#/.test(scan.template.slice(scan.at, inner))) stop(scan, scan.at, 'Quotes in arithmetic')
  // Other shells than bash read ((1<<2)) as a here-document in two groups.
  const [, delimiter] = (!word && /<<-?\s*([^\s()<]+)/.exec(scan.template.slice(scan.at, inner))) || []
  if (delimiter && scan.template.slice(inner).split(/\n\t*/).includes(delimiter))
    disagree(scan, scan.at, 'this <<')
  skipTo(scan, inner + 1, word, 'arithmetic', CHECK_NUMBER)
  return true
}

/** Skips `[…]`, which bash computes; `$[…]` is its old arithmetic. */
function skipSubscript(scan: Scan, word: Word, place = 'an array subscript'): void {
  skipTo(scan, behindBracket(scan, scan.template.indexOf('[', scan.at)), word, place, CHECK_NUMBER)
}

/** Skips `` `…` ``: a backslash in it means something else at each level. */
function skipBackticks(scan: Scan, word: Word): void {
  const { at } = scan
  const end = at + take(scan, /`(?:\\.|[^\\`])*`/sy).length
  if (end === at || end > scan.end) unclosed(scan, at, '`')
  scan.at = at
  skipTo(scan, end, word, 'backticks', 'Write $( … ).')
}

/** Skips text that is computed, and refuses values in it that could be code. Quotes in it are not followed. */
function skipTo(scan: Scan, end: number, word: Word | undefined, place: string, hint?: string): void {
  const all = openings(scan.template, scan.at, end)
  refuse(scan, all, place, hint)
  const isQuoted = /['"`\\]/.test(scan.template.slice(scan.at, end))
  for (const reference of all) {
    if (!scan.plain.has(reference.name)) continue
    if (isQuoted) stop(scan, reference.offset, `Quotes in ${place}`)
    scan.at = reference.offset
    readValue(scan, startWord(scan), 'double', reference)
  }
  scan.at = end
  word?.pieces.push(null)
}

/** Reads the delimiter behind `<<`. The text itself comes after the line. */
export function readDelimiter(scan: Scan, stripTabs: boolean): void {
  const offset = scan.at
  take(scan, /[ \t]*/y)
  const { found, quoted, pieces } = readWord(scan)
  refuse(scan, found, 'the delimiter of a here-document')
  if (!/^[ \t]*[^ \t$`\n(]+$/.test(scan.template.slice(offset, scan.at))) stop(scan, offset, 'This delimiter')
  const { inFunction } = scan
  scan.pending.push({ offset, delimiter: pieces.join(''), stripTabs, quoted, inFunction, found: [] })
}

/** At a newline: steps over it and over the here-documents that begin behind it. */
export function readNewline(scan: Scan): void {
  const line = scan.at
  scan.at += 1
  for (const document of scan.pending.splice(0)) {
    const { offset, quoted, inFunction } = document
    if (/(?<!\\)\n/.test(scan.template.slice(offset, line)))
      disagree(scan, offset, 'a here-document inside quotes or $( )')
    const { at, end: outer, inFunction: outerFunction } = scan
    scan.end = skipBody(scan, document)
    const next = scan.at
    const before = scan.found.length
    scan.at = at
    if (!quoted && endsEarly(scan.template.slice(at, scan.end), document))
      disagree(scan, offset, 'a \\ at the end of a line of this here-document')
    scan.inFunction = inFunction
    readPieces(scan, startWord(scan), quoted ? 'fixed' : 'document', '')
    scan.inFunction = outerFunction
    document.found = scan.found.slice(before)
    if (document.interpreter) refuse(scan, document.found, `a script for ${document.interpreter}`)
    scan.end = outer
    scan.at = next
  }
}

/** Steps over the text of a here-document and its delimiter, and returns where the text ends. */
function skipBody(scan: Scan, { delimiter, stripTabs }: HereDocument): number {
  for (;;) {
    const { at } = scan
    const line = take(scan, LINE)
    if (!line || line.replace(stripTabs ? /^\t+|\n$/g : /\n$/, '') === delimiter) return at
  }
}

/** True where a line that goes on behind a backslash hides the delimiter, or is one. */
function endsEarly(body: string, { delimiter, stripTabs }: HereDocument): boolean {
  const lines = body.replace(/\\\n/g, '').split('\n')
  return body.endsWith('\\\n') || lines.some((line) => line.replace(stripTabs ? /\t/g : '', '') === delimiter)
}

const LINE = /[^\n]*\n?/y
