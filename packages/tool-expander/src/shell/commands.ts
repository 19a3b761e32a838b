import { namesOf, RUN_LATER } from '../interpreters.js'
import {
  type Compiled,
  inferParameters,
  type KnownParameter,
  plainNames,
  writeCommand,
} from '../parameters.js'
import { isParameter, type Part, type Placeholder, type Word } from '../template.js'
import { ASSIGNMENT, checkCommand, checkOperands, type SimpleCommand } from './rules.js'
import {
  complain,
  disagree,
  looksAt,
  missing,
  next,
  noteExpanded,
  POSITIONAL,
  readDelimiter,
  readNewline,
  readWord,
  refuse,
  type Scan,
  scanTemplate,
  skipArithmetic,
  stop,
  take,
} from './scan.js'

/**
 * Compiles a `shell:` template to `sh -c` with positional parameters.
 *
 * Every placeholder becomes a reference to a positional, quoted for the place it stands in, so a value is never
 * part of the script. Where no reference would be safe, the template is refused.
 *
 * @param stdin - The parameter that `stdin:` names. Its places in the template stay empty.
 */
export function compileShell(
  template: string,
  parameters?: readonly KnownParameter[],
  stdin?: string,
): Compiled & { scan: Scan } {
  const plain = plainNames(parameters)
  const { scan, problems } = scanTemplate({ path: 'shell', template, plain, readCommands }, (scan) => {
    readCommands(scan, [''])
    checkScript(scan)
  })
  const inferred = inferParameters(scan.found.filter(({ name }) => name !== stdin))
  // Parameters come first.
  const numbers = new Map<string, number>()
  for (const { name } of [...inferred, ...scan.found])
    numbers.set(name, numbers.get(name) ?? numbers.size + 1)
  const words: Part[][] = [['sh'], ['-c'], [writeScript(scan, numbers)], ['--']]
  for (const name of numbers.keys()) words.push(name === stdin ? [] : [{ name, offset: 0 }])
  const checkedWords = [...scan.checkedWords].map((word) => word.replaceAll(`\${${stdin}}`, ''))
  return { ...writeCommand(words, inferred), checkedWords, problems, scan }
}

/** What the shell reads as one although a `\` at the end of a line splits it: `$(`, `((`, `$name`. */
const SPLIT = /\$[{#!]*\w*(?:\\\n)+\S|[(<>](?:\\\n)+[()<>&|]|[&|;](?:\\\n)+[&|;>]/g

function checkScript(scan: Scan): void {
  if (scan.template.trim() === '') complain(scan, 0, 'ERR_COMMAND_WORD', 'The script is empty.')
  for (const { index } of scan.template.matchAll(SPLIT)) disagree(scan, index, 'this \\ at the end of a line')
  const parameters = new Set(scan.found.filter(isParameter).map(({ name }) => name))
  for (const { name, offset } of scan.expanded) {
    const message = `\${${name}} is a parameter, which the shell cannot expand.`
    if (parameters.has(name)) complain(scan, offset, 'ERR_SHELL_POSITIONAL', message)
    // `eval "$1"` and `sh -c "ls $1"` would run it.
    else if (parameters.size > 0 && POSITIONAL.test(name))
      complain(scan, offset, 'ERR_SHELL_POSITIONAL', 'This stands for what the model sends.', OWN_POSITIONAL)
  }
}

const OWN_POSITIONAL = `Write \${name}, \\$ for text, or for another script sh -c '… "$1"' _ \${name}`

function writeScript({ template, edits }: Scan, numbers: ReadonlyMap<string, number>): string {
  let script = ''
  let end = 0
  for (const edit of edits) {
    script += template.slice(end, edit.offset)
    end = edit.offset + edit.length
    const { value } = edit
    if (value) script += positional(value, numbers.get(value.name) ?? 0, template.charAt(end))
  }
  return script + template.slice(end)
}

function positional({ raw, quoting }: Placeholder, number: number, next: string): string {
  const bare = raw || quoting === 'double' || quoting === 'document'
  const braces = number > 9 || (bare && /\d/.test(next))
  const reference = braces ? `\${${number}}` : `$${number}`
  const quoted = bare ? reference : `"${reference}"`
  return quoting === 'single' ? `'${quoted}'` : quoted
}

/** Words that only group or separate commands. */
const NEUTRAL = namesOf('then else elif do !')
const CLOSERS = namesOf('fi done esac }')
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
function readCommands(scan: Scan, closers: readonly string[], opening = scan.at): string {
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
function readFunction(scan: Scan): void {
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
    else noteExpanded(scan, '@', opening) // the loop is over "$@"
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
function readOperand(scan: Scan): Word {
  const word = readWord(scan)
  if (word.pieces.length === 0 && !word.quoted) missing(scan, word.offset, 'A word')
  return word
}

/** Blanks and continued lines. */
function skipInline(scan: Scan): void {
  take(scan, BLANKS)
}

/** Blanks, comments and newlines, with the here-documents behind them; true where a line ended. */
function skipBlanks(scan: Scan): boolean {
  for (let hasEnded = false; ; hasEnded = true) {
    skipInline(scan)
    take(scan, COMMENT)
    if (next(scan) !== '\n') return hasEnded
    readNewline(scan)
  }
}

/** True where a simple command ends. */
function atEnd(scan: Scan): boolean {
  take(scan, COMMENT)
  return scan.at >= scan.end || looksAt(scan, COMMAND_END)
}

const REDIRECTION = /&>>?|(?:\d+|\{\w+\})?(?:<<<|<<-?|<[>&]?(?!\()|>[>|&]?(?!\())/y

/** Reads the rest of a simple command behind its first word, then checks it. */
function readSimple(scan: Scan, ...first: Word[]): undefined {
  const command: SimpleCommand = {
    words: [],
    elements: [],
    inputs: [],
    foundBefore: scan.found.length - first.flatMap(({ found }) => found).length,
    documentsBefore: scan.pending.length,
    isOpen: true,
  }
  for (const word of first) addWord(scan, command, word)
  let isSplit = false
  for (skipInline(scan); !atEnd(scan); skipInline(scan)) {
    const redirection = take(scan, REDIRECTION)
    if (redirection) {
      readRedirection(scan, command, redirection)
      isSplit ||= redirection.startsWith('&')
    } else if (next(scan) !== '(') {
      if (isSplit) disagree(scan, scan.at, 'words behind &>; write >f 2>&1')
      addWord(scan, command, readOperand(scan))
    } else {
      if (command.words.length !== 1 || !/^[\w.:-]+$/.test(command.words[0]?.shape ?? '')) {
        stop(scan, scan.at, 'This (')
      }
      readFunction(scan)
      return
    }
  }
  checkCommand(scan, command)
}

function addWord(scan: Scan, command: SimpleCommand, word: Word): void {
  const shape = word.shape
  if (command.isOpen) checkSubscript(scan, word, NAME_AND_BRACKET)
  command.isOpen &&= ASSIGNMENT.test(shape)
  command.words.push(word)
  if (next(scan) === '(' && /^[A-Za-z_]\w*\+?=$/.test(shape)) readArray(scan, command)
  if (/[<>]/.test(next(scan)) && /^\{\w+\[.*\}$/s.test(shape)) refuse(scan, word.found, 'an array subscript')
}

const BRACKET = /^\[/
const NAME_AND_BRACKET = /^[A-Za-z_]\w*\[/
const CLOSED = /^\w*\[(?:[^[\]'"\\`\s]|\[[^[\]'"\\`\s]*\]|"[^"\\`$]*"|'[^']*')*\]/

/** Where a subscript can stand, bash reads on to its bracket, over blanks and newlines. */
function checkSubscript(scan: Scan, { offset }: Word, opening: RegExp): void {
  const text = scan.template.slice(offset, scan.at)
  const written = text.includes('[') ? text.replace(/\\\n/g, '') : ''
  if (opening.test(written) && !CLOSED.test(written)) disagree(scan, offset, 'this subscript')
}

/** `name=( … )`; its words are as much arguments as any. */
function readArray(scan: Scan, command: SimpleCommand): void {
  scan.at += 1
  for (skipBlanks(scan); !take(scan, /\)/y); skipBlanks(scan)) {
    const word = readOperand(scan)
    checkSubscript(scan, word, BRACKET)
    if (word.shape.startsWith('[')) refuse(scan, word.found, 'an array subscript')
    command.elements.push(word)
  }
}

/** A file name is not an argument: it may begin with a dash. */
function readRedirection(scan: Scan, command: SimpleCommand, operator: string): void {
  if (/(?<!<)<<-?$/.test(operator)) {
    readDelimiter(scan, operator.endsWith('-'))
    return
  }
  skipInline(scan)
  const target = readOperand(scan)
  if (operator.endsWith('<<<') || scan.template.startsWith('<(', target.offset)) command.inputs.push(target)
  // bash expands what a word after `>&` has become once more
  if (/[<>]&$/.test(operator))
    refuse(scan, target.found, 'the target of a duplication', 'For a file, write > or 2>.')
}

/**
 * Reads bash's `[[ … ]]`.
 *
 * Where `sh` is not bash, `[[` is a program that does not exist, `<` and `>` redirect, and `||` goes on to run
 * the next word as a command. So no value may stand where it would then be run or name a file.
 */
function readConditional(scan: Scan, opening: number): void {
  const words: Word[] = []
  // The first word behind || and the like.
  let program = ''
  for (;;) {
    let isFirst = skipBlanks(scan)
    while (take(scan, /[()&|<>]/y)) {
      isFirst = true
      skipBlanks(scan)
    }
    const word = readWord(scan)
    if (word.offset === scan.at) missing(scan, opening, ']]')
    // The name of a program begins with a letter, a dot or a slash, all behind the dash of an operator.
    isFirst ||= program === '!'
    if (isFirst || program >= '.') refuse(scan, word.found, '[[ ]], which other shells run', 'Write [ … ].')
    if (isFirst) program = word.shape
    if (word.shape === ']]' && !word.quoted) break
    words.push(word)
  }
  checkOperands(scan, words, /^-(?:eq|ne|lt|le|gt|ge|[vR])$/)
}
