import { atEnd, readFunction, readOperand, skipBlanks, skipInline } from './commands.js'
import { readDelimiter } from './here-documents.js'
import { ASSIGNMENT, checkCommand } from './rules.js'
import { disagree, next, refuse, type Scan, stop, take, type Word } from './scan.js'

/** A simple command: its words, and what it reads from. */
export interface SimpleCommand {
  words: Word[]
  /** What stands in `name=( … )`. */
  elements: Word[]
  /** `<<< word`, and `<( … )` where it is redirected. */
  inputs: Word[]
  /** How many values were found, and how many here-documents were pending, before it. */
  foundBefore: number
  documentsBefore: number
  /** Only assignments so far. */
  isOpen: boolean
}

export const REDIRECTION = /&>>?|(?:\d+|\{\w+\})?(?:<<<|<<-?|<[>&]?(?!\()|>[>|&]?(?!\())/y

/** Reads the rest of a simple command behind its first word, then checks it. */
export function readSimple(scan: Scan, ...first: Word[]): undefined {
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

/** A file name is no argument: it may begin with a dash. */
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
