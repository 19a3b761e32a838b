import { shapeOf } from '../command-words.js'
import { atEnd, readFunction, readOperand, skipBlanks, skipInline } from './commands.js'
import { readDelimiter } from './here-documents.js'
import { checkCommand } from './rules.js'
import { looksAt, refuse, type Scan, stop, take, type Word } from './scan.js'

/** A simple command: its words, and what it reads from. */
export interface SimpleCommand {
  words: Word[]
  /** What stands in `name=( … )`. */
  elements: Word[]
  /** `<<< word`, and `<( … )` where it is redirected. */
  inputs: Word[]
  /** How many here-documents were pending before it. */
  documentsBefore: number
}

const REDIRECTION = /&>>?|<<<|<<-?|<[>&]?(?!\()|>[>|&]?(?!\()/y
const OPENING = /\(/y
const ANGLE = /[<>]/y

/** Reads the rest of a simple command behind its first word, then checks it. */
export function readSimple(scan: Scan, first?: Word): void {
  const command: SimpleCommand = { words: [], elements: [], inputs: [], documentsBefore: scan.pending.length }
  if (first !== undefined) addWord(scan, command, first)
  for (skipInline(scan); !atEnd(scan); skipInline(scan)) {
    const redirection = take(scan, REDIRECTION)
    if (redirection) readRedirection(scan, command, redirection)
    else if (!looksAt(scan, OPENING)) addWord(scan, command, readOperand(scan))
    else {
      if (command.words.length !== 1 || !/^[\w.:-]+$/.test(shapeOf(command.words[0]))) {
        stop(scan, scan.at, 'This ( is not expected here.')
      }
      readFunction(scan)
      return
    }
  }
  checkCommand(scan, command)
}

function addWord(scan: Scan, command: SimpleCommand, word: Word): void {
  const isDescriptor =
    /^(?:\d+|\{\w+\})$/.test(scan.template.slice(word.offset, scan.at)) && looksAt(scan, ANGLE)
  if (!isDescriptor) command.words.push(word)
  if (looksAt(scan, OPENING) && /^[A-Za-z_]\w*\+?=$/.test(shapeOf(word))) readArray(scan, command)
}

/** `name=( … )`; its words are as much arguments as any. */
function readArray(scan: Scan, command: SimpleCommand): void {
  scan.at += 1
  for (skipBlanks(scan); !take(scan, /\)/y); skipBlanks(scan)) {
    const word = readOperand(scan)
    if (shapeOf(word).startsWith('[')) refuse(scan, word.found, 'an array subscript')
    command.elements.push(word)
  }
}

/** A file name is no argument: it may begin with a dash. */
function readRedirection(scan: Scan, command: SimpleCommand, operator: string): void {
  if (/^<<-?$/.test(operator)) {
    readDelimiter(scan, operator === '<<-')
    return
  }
  skipInline(scan)
  const target = readOperand(scan)
  if (operator === '<<<' || scan.template.startsWith('<(', target.offset)) command.inputs.push(target)
  // bash expands what a word after `>&` has become once more
  if (/^[<>]&$/.test(operator))
    refuse(scan, target.found, 'the target of a duplication', 'For a file, write > or 2>.')
}
