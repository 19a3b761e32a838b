import { atEnd, bash, readFunction, readOperand, skipBlanks, skipInline } from './commands.js'
import { readDelimiter } from './here-documents.js'
import { checkCommand } from './rules.js'
import { beginningOf, literalOf, refuse, type Scan, stop, type Word } from './scan.js'
import { readWord } from './words.js'

/** A simple command: its words, and what it reads from. */
export interface SimpleCommand {
  words: Word[]
  /** `<<< word` */
  hereStrings: Word[]
  /** How many here-documents were pending before it. */
  documentsBefore: number
}

const REDIRECTION = /^(?:&>>|&>|<<<|<<-|<<|<>|<&|<|>>|>\||>&|>)/

/** Reads the rest of a simple command behind its first word, then checks it. */
export function readSimple(scan: Scan, first: Word | undefined): void {
  const command: SimpleCommand = { words: [], hereStrings: [], documentsBefore: scan.pending.length }
  if (first !== undefined) addWord(scan, command, first)
  for (skipInline(scan); !atEnd(scan); skipInline(scan)) {
    const next = scan.text.slice(scan.at, scan.at + 3)
    if (REDIRECTION.test(next) && !/^[<>]\(/.test(next)) readRedirection(scan, command)
    else if (next.startsWith('(')) {
      const isName = /^[\w.:-]+$/.test(literalOf(command.words[0] ?? readWord(scan)) ?? '')
      if (command.words.length !== 1 || !isName) stop(scan, scan.at, 'The shell expects no ( here.')
      readFunction(scan)
      return
    } else addWord(scan, command, readOperand(scan))
  }
  checkCommand(scan, command)
}

function addWord(scan: Scan, command: SimpleCommand, word: Word): void {
  const next = scan.text.charAt(scan.at)
  const isDescriptor = /^(?:\d+|\{\w+\})$/.test(scan.text.slice(word.offset, scan.at)) && /[<>]/.test(next)
  if (!isDescriptor) command.words.push(word)
  if (next === '(' && /^[A-Za-z_]\w*\+?=$/.test(literalOf(word) ?? '')) readArray(scan, command)
}

/** `name=( … )`; its words are as much arguments as any. */
function readArray(scan: Scan, command: SimpleCommand): void {
  const opening = scan.at
  bash(scan, 'arrays')
  scan.at += 1
  for (skipBlanks(scan); scan.text.charAt(scan.at) !== ')'; skipBlanks(scan)) {
    if (scan.at >= scan.end) stop(scan, opening, 'This array is never closed.')
    const word = readOperand(scan)
    if (beginningOf(word).startsWith('[') || word.brace) {
      refuse(scan, word.found, 'an array subscript', 'Use a name or a number of your own here.')
    }
    command.words.push(word)
  }
  scan.at += 1
}

/** A file name is no argument: it may begin with a dash. */
function readRedirection(scan: Scan, command: SimpleCommand): void {
  const operator = REDIRECTION.exec(scan.text.slice(scan.at, scan.at + 3))?.[0] ?? ''
  if (operator.startsWith('&') || operator === '<<<') bash(scan, operator)
  scan.at += operator.length
  if (operator === '<<' || operator === '<<-') {
    readDelimiter(scan, operator === '<<-')
    return
  }
  skipInline(scan)
  const target = readOperand(scan)
  if (operator === '<<<') command.hereStrings.push(target)
}
