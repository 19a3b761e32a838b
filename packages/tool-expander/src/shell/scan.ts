import {
  MAX_PROBLEMS,
  problemAt,
  type Template,
  type ToolProblem,
  type ToolProblemCode,
} from '../problems.js'
import {
  isEngineVariable,
  matchAt,
  openings,
  type Placeholder,
  type Quoting,
  type Reference,
  readReference,
  shapeOf,
  type Word,
  wordOf,
} from '../template.js'

/** A here-document: `<<E` and the lines up to E. */
interface HereDocument {
  offset: number
  delimiter: string
  stripTabs: boolean
  quoted: boolean
  /** It belongs to a function. */
  inFunction: boolean
  /** Set when its command runs the text: for whom. */
  interpreter?: string
  /** The values in its text. */
  found: readonly Placeholder[]
}

/** What is wrong at an offset. */
type Complaint = [offset: number, code: ToolProblemCode, message: string, hint?: string]

/** Reads commands up to one of the closers; `opening` is where their construct began. */
type ReadCommands = (scan: Scan, closers: readonly string[], opening?: number) => string

/** One pass over a template. `at` moves forward only. */
export interface Scan extends Template {
  readonly path: 'exec' | 'shell'
  /** Parameters whose values are never code. */
  readonly plain: ReadonlySet<string>
  /** The grammar of `$( … )`. `exec:` has none. */
  readonly readCommands: ReadCommands | undefined
  at: number
  end: number
  readonly found: Placeholder[]
  /** What the script is written without: placeholders, and backslashes before literal ones that the shell would print. */
  readonly edits: { offset: number; length: number; value?: Placeholder }[]
  readonly complaints: Complaint[]
  /** Complaints only about a script that has placeholders. */
  readonly hazards: Complaint[]
  /** `${name%.txt}` and the like by their names, and `$1` as it is written. */
  readonly expanded: { name: string; offset: number }[]
  readonly checkedWords: Set<string>
  /** Simple commands, for `lintTool`. */
  readonly commands: Command[]
  pending: HereDocument[]
  /** The first of the values found so far that a pipe may feed to the commands read now; Infinity without a pipe. */
  fedFrom: number
  /** Inside a function, where `$1` is the function's own. */
  inFunction: boolean
  /** Inside `>( … )`, which anything may be written to. */
  inOutput: boolean
}

/** The words of a simple command, without its assignments, and its here-documents. */
export interface Command {
  words: readonly Word[]
  documents: readonly HereDocument[]
}

/** Reads a template as far as it can be followed. */
export function scanTemplate(
  source: Pick<Scan, 'path' | 'template' | 'plain' | 'readCommands'>,
  read: (scan: Scan) => void,
): { scan: Scan; problems: ToolProblem[] } {
  const scan: Scan = {
    ...source,
    at: 0,
    end: source.template.length,
    found: [],
    edits: [],
    complaints: [],
    hazards: [],
    expanded: [],
    checkedWords: new Set(),
    commands: [],
    pending: [],
    fedFrom: Infinity,
    inFunction: false,
    inOutput: false,
  }
  try {
    read(scan)
  } catch (error) {
    if (error !== STOPPED) throw error
  }
  const complaints = scan.found.length > 0 ? [...scan.complaints, ...scan.hazards] : scan.complaints
  complaints.sort(([a], [b]) => a - b)
  const first = complaints.slice(0, MAX_PROBLEMS)
  return { scan, problems: first.map((complaint) => problemAt(scan, ...complaint)) }
}

/** `$1`, as it is written or by its name. */
export const POSITIONAL = /^\$?[1-9@*]/

const STOPPED = new Error()

/** Steps over what a sticky pattern matches here, and returns it; '' when it does not match. */
export function take(scan: Scan, pattern: RegExp): string {
  const { at } = scan
  if (!looksAt(scan, pattern)) return ''
  scan.at = pattern.lastIndex
  return scan.template.slice(at, scan.at)
}

/** The character that stands here, '' at the end. */
export function next({ template, at, end }: Scan): string {
  return at < end ? template.charAt(at) : ''
}

/** True when a sticky pattern matches here. Its `lastIndex` is then where the match ends. */
export function looksAt({ template, at, end }: Scan, pattern: RegExp): boolean {
  pattern.lastIndex = at
  return at < end && pattern.test(template)
}

export function complain(scan: Scan, ...complaint: Complaint): void {
  scan.complaints.push(complaint)
}

/** Shells read this differently, so where a placeholder of this script stands is unknown. */
export function disagree(scan: Scan, offset: number, what: string): void {
  scan.hazards.push([offset, 'ERR_SHELL_SYNTAX', `Shells disagree about ${what}.`])
}

/** Refuses to go on. Guessing where a placeholder stands is how values become code. */
export function stop(scan: Scan, offset: number, what: string): never {
  giveUp(scan, offset, 'ERR_SHELL_SYNTAX', `${what} cannot be followed.`)
}

/** Stops where something is missing that belongs to what began at an offset. */
export function missing(scan: Scan, offset: number, what: string): never {
  giveUp(scan, offset, 'ERR_SHELL_SYNTAX', `${what} is missing.`)
}

/** Stops at what is never closed, which no shell would run either. */
function unclosed(scan: Scan, offset: number, mark: string): never {
  giveUp(scan, offset, 'ERR_QUOTE', `The closing ${mark} is missing.`)
}

function giveUp(scan: Scan, ...complaint: Complaint): never {
  const [, code] = complaint
  // Without placeholders nothing can go wrong but an open quote: the script is the shell's business.
  if (code === 'ERR_QUOTE' || openings(scan.template).some(({ name }) => name)) complain(scan, ...complaint)
  throw STOPPED
}

/** Refuses placeholders whose values would be run or computed. */
export function refuse(
  scan: Scan,
  found: readonly { name: string; offset: number }[],
  place: string,
  hint?: string,
  becomes = 'code',
): void {
  for (const { name, offset } of found) {
    const message = `\${${name}} stands in ${place}: the value would become ${becomes}.`
    if (name && !scan.plain.has(name)) complain(scan, offset, 'ERR_SHELL_CODE', message, hint)
  }
}

const PROCESS_SUBSTITUTION = /[<>]\(/y
const PLAIN = /[\w./:=-]+|./sy
const BACKSLASHES = /\\+/y
const FIXED = /[^\\$'\n]+|./sy

/** Reads one word at the current position. */
export function readWord(scan: Scan): Word {
  const word = wordOf(scan, scan.at)
  const before = scan.found.length
  const isShell = scan.path === 'shell'
  do readPieces(scan, word, 'bare', isShell ? ' \t\n;&|<>()' : ' \t\r\n')
  while (isShell && take(scan, PROCESS_SUBSTITUTION) && readNested(scan, word))
  word.shape = shapeOf(word.pieces)
  word.found = scan.found.slice(before)
  return word
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
function addText(word: Word, text: string, isBrace = false): void {
  const { pieces } = word
  const last = pieces.at(-1)
  if (word.operands > 0) pieces.push(null)
  else if (typeof last === 'string') pieces[pieces.length - 1] = last + text
  else pieces.push(text)
  if (word.beginning === 'open') word.beginning = isBrace ? 'brace' : 'fixed'
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
    complain(scan, scan.at, 'ERR_QUOTE', 'This backslash escapes nothing.', 'Remove it: lines go on without.')
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
    if (next(scan) === '(') disagree(scan, opening, '$(( that is not arithmetic')
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
  noteExpanded(scan, name, offset)
  if (name === '$$' && readReference(scan.template, offset + 1))
    complain(scan, offset, 'ERR_PLACEHOLDER', '$$ is a process number.')
}

/** Notes what the shell expands, but for a function's own `$1`. */
export function noteExpanded(scan: Scan, name: string, offset: number): void {
  if (!scan.inFunction || !POSITIONAL.test(name)) scan.expanded.push({ name, offset })
}

/** Records a placeholder; what it is replaced by depends on where it stands. */
function readValue(scan: Scan, word: Word, quoting: Quoting, reference: Reference): void {
  const { at: offset } = scan
  const { name, modifier, length } = reference
  const raw = modifier === 'raw'
  if (modifier && !raw) {
    complain(scan, offset, 'ERR_PLACEHOLDER', `Unknown modifier :${modifier}; there is only :raw.`)
  }
  if (quoting === 'fixed') {
    const hint = 'For a value remove these quotes; for literal text write \\${.'
    const message = `\${${name}} stands in a here-document with a quoted delimiter.`
    complain(scan, offset, 'ERR_SHELL_POSITIONAL', message, hint)
  } else if (scan.inFunction) {
    const message = `\${${name}} stands in a function, which has its own $1.`
    complain(scan, offset, 'ERR_SHELL_POSITIONAL', message)
  }
  const value: Placeholder = { name, raw, offset, quoting, leads: word.beginning !== 'fixed' }
  scan.found.push(value)
  scan.edits.push({ offset, length, value })
  word.pieces.push(value)
  if (isEngineVariable(name) && word.beginning === 'open') word.beginning = 'fixed'
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
  scan.readCommands?.(scan, [')'], opening)
  scan.fedFrom = fedFrom
  scan.inOutput = inOutput
  if (scan.pending.length > 0) stop(scan, opening, 'This here-document')
  scan.pending = outer
  word.pieces.push(null)
  return true
}

const OF_BASH = `Hand it over as an argument: bash -c 'echo "\${1/"$2"/"$3"}"' _ "$x" \${old} \${new}`
const BEGINNING = /\$\{[#!]?([A-Za-z_]\w*|\d+|[@*#?!-]|\$(?!\{))/y

/** Reads a parameter expansion of the shell's own: `${x:-word}`, `${#x}`, `${x%.txt}`, `${10}`. */
function readBraced(scan: Scan, word: Word, quoting: Quoting): void {
  const { at: offset, found } = scan
  const before = found.length
  const [written = '', name] = matchAt(BEGINNING, scan.template, offset) ?? []
  if (!name) giveUp(scan, offset, 'ERR_PLACEHOLDER', 'This is not a placeholder.')
  scan.at += written.length
  noteExpanded(scan, name, offset)
  word.pieces.push(null)
  if (next(scan) === '[') skipSubscript(scan, word)

  const operator = take(scan, /:?[-=+?]|##?|%%?|\//y)
  const isPattern = /[#%/]/.test(operator)
  const { beginning } = word
  word.operands += 1
  readPieces(scan, word, operator && !isPattern ? quoting : 'bare', '}')
  word.operands -= 1
  if (word.beginning === 'fixed') word.beginning = beginning
  if (!take(scan, /\}/y)) unclosed(scan, offset, '}')

  // What it becomes is the variable, and no longer a word in quotes.
  if (quoting === 'bare' && operator.endsWith('=') && found.length > before) {
    const message = 'The shell splits what this becomes.'
    complain(scan, offset, 'ERR_SHELL_SYNTAX', message, 'Put it in double quotes.')
  }
  if (!operator) refuse(scan, found.slice(before), 'an expansion that computes or rewrites')
  else if (operator === '/')
    refuse(scan, found.slice(before), '${…/…}', OF_BASH, "bash's pattern or replacement")
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
  for (const { 1: name, index } of scan.template.slice(scan.at, end).matchAll(/'[^']*'|\$\{?([1-9@*])/g))
    if (name) noteExpanded(scan, name, scan.at + index)
  const isQuoted = /['"`\\]/.test(scan.template.slice(scan.at, end))
  for (const reference of all) {
    if (!scan.plain.has(reference.name)) continue
    if (isQuoted) stop(scan, reference.offset, `Quotes in ${place}`)
    scan.at = reference.offset
    readValue(scan, wordOf(scan, scan.at), 'double', reference)
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
    readPieces(scan, wordOf(scan, at), quoted ? 'fixed' : 'document', '')
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
