import { baseName, findProgramText, SHELL } from '../interpreters.js'
import type { ToolProblemCode } from '../problems.js'
import { beginningOf, isParameter, writeElement } from '../template.js'
import { complain, type Found, literalOf, refuse, type Scan, type Word } from './scan.js'
import type { SimpleCommand } from './simple.js'

/** Builtins whose words the shell runs or computes. */
const RUNS_ITS_WORDS = /^(?:eval|trap|let|alias|bind|compgen|complete|enable|fc)$/
/** Builtins whose words are names of variables; a name can hold a subscript, and that is computed. */
const TAKES_NAMES = /^(?:declare|typeset|local|readonly|export|unset|read|readarray|mapfile|getopts)$/
const ASSIGNMENT = /^([A-Za-z_]\w*)(\[.*\])?\+?=/s
/** Variables whose text the shell runs. */
const RUN_LATER = /^(?:PS\d|PROMPT_COMMAND|(?:BASH_)?ENV)\+?=/
/** Checks a finished simple command: what it would do with a value, and which values must not begin with `-`. */
export function checkCommand(scan: Scan, command: SimpleCommand): void {
  const words = [...command.words]
  scan.commands.push(command.words)
  while (checkAssignment(scan, words[0])) words.shift()
  checkWords(scan, words)
  while (/^(?:command$|builtin$|-)/.test(beginningOf(words[0]?.pieces))) words.shift()
  checkBuiltin(scan, words)
  checkPrograms(scan, command)
}

/** False when a word is no assignment. */
function checkAssignment(scan: Scan, word: Word | undefined): boolean {
  const shape = shapeOf(word)
  const [, name, subscript] = ASSIGNMENT.exec(shape) ?? []
  if (word === undefined || name === undefined) return false
  scan.assigned.push({ name, offset: word.offset })
  if (subscript?.includes('\0')) refuse(scan, word.found, 'an array subscript')
  if (RUN_LATER.test(shape)) refuse(scan, word.found, 'a variable whose text the shell runs')
  return true
}

function checkBuiltin(scan: Scan, [command, ...operands]: readonly Word[]): void {
  const name = literalOf(command) ?? ''
  const hazard = (code: ToolProblemCode, effect: string) => {
    const offset = command?.offset ?? 0
    complain(scan, offset, `${name} ${effect}.`, 'Use variables: x=${value}; … "$x"', code, 'hazards')
  }
  if (RUNS_ITS_WORDS.test(name)) refuse(scan, foundIn(operands), `the words of ${name}`)
  else if (TAKES_NAMES.test(name)) {
    const hint = 'Write the name out: export NAME=${value}'
    for (const word of operands) {
      const option = beginningOf(word.pieces)
      if (!checkAssignment(scan, word))
        refuse(scan, word.found, `the words of ${name}, which are names`, hint)
      if (/^[dtl]/.test(name) && /^[-+]\w*[in]/.test(option))
        hazard('ERR_SHELL_CODE', `${option} makes the shell compute what is assigned`)
    }
  } else if (name === 'printf' && beginningOf(operands[0]?.pieces).startsWith('-v')) {
    refuse(scan, foundIn(operands.slice(0, 2)), 'the name printf -v takes')
  } else if (name === 'shift' || (name === 'set' && !operands.every(isSetOption))) {
    hazard('ERR_SHELL_POSITIONAL', 'changes $1, which would no longer be the value')
  } else if (name === '[' || name === 'test') checkTest(scan, operands, true)
}

function isSetOption(word: Word, index: number, words: readonly Word[]): boolean {
  return (
    /^[-+][A-Za-z]+$/.test(literalOf(word) ?? '') || /^[-+]\w*o$/.test(beginningOf(words[index - 1]?.pieces))
  )
}

/** Operands of a numeric comparison, and names after -v, are computed by some shells. */
export function checkTest(scan: Scan, words: readonly Word[], outputIsSafe: boolean): void {
  words.forEach((word, index) => {
    const operator = literalOf(word) ?? ''
    const operands = /^-(?:eq|ne|lt|le|gt|ge)$/.test(operator)
      ? [words[index - 1], words[index + 1]]
      : /^-[vR]$/.test(operator)
        ? [words[index + 1]]
        : []
    const found = operands.flatMap((operand) => (outputIsSafe ? valuesOf(operand) : (operand?.found ?? [])))
    refuse(scan, found, `an operand of ${operator}`, 'Compare with =, or check it: case ${n} in *[!0-9]*) …')
  })
}

/** Program text of interpreters, and scripts they read from standard input. */
function checkPrograms(scan: Scan, { words, hereStrings, documentsBefore }: SimpleCommand): void {
  const beginnings = words.map(({ pieces }) => beginningOf(pieces))
  const refuseGlued = (word: Word | undefined, place: string) => {
    if (word && !isWhole(word)) refuse(scan, word.found, place, `Write sh -c '… "$1"' _ \${value}`)
  }
  const programs = findProgramText(beginnings)
  for (const [index, interpreter] of programs) {
    if (SHELL.test(interpreter)) refuseGlued(words[index], `a script for ${interpreter} -c`)
  }
  const reader = beginnings.map(baseName).find((name) => SHELL.test(name) || /^(?:ssh|\.|source)$/.test(name))
  if (reader === undefined) return
  const streams = words.filter(({ offset }) => scan.text.startsWith('<(', offset))
  for (const word of [...hereStrings, ...streams]) refuseGlued(word, `a script for ${reader}`)
  if (programs.length > 0 && reader !== 'ssh') return
  for (const document of scan.pending.slice(documentsBefore)) document.interpreter = reader
}

/** Notes for each value that can begin a word how that word is checked at call time. */
export function checkWords(scan: Scan, words: readonly Word[]): void {
  for (const word of words) {
    if (literalOf(word) === '--') return
    const leading = valuesOf(word).filter((value) => value.leads && !value.raw && isParameter(value))
    const pieces = word.pieces.slice(word.pieces.findIndex((piece) => piece !== null))
    const shape = pieces.map((piece) => piece ?? '…')
    for (const found of leading) {
      found.checked = pieces.length === 1 ? 'value' : 'word'
      if (pieces.length > 1) scan.checkedWords.add(writeElement(word.brace ? [found, '…'] : shape))
    }
  }
}

function foundIn(words: readonly Word[]): Found[] {
  return words.flatMap(({ found }) => found)
}

export function valuesOf(word: Word | undefined): Found[] {
  return word?.pieces.filter((piece) => typeof piece === 'object' && piece !== null) ?? []
}

export function isWhole(word: Word): boolean {
  return word.pieces.length === 1 && valuesOf(word).length === 1
}

/** A word as text, with a mark for each part that is not fixed. */
export function shapeOf(word: Word | undefined): string {
  return word?.pieces.map((piece) => (typeof piece === 'string' ? piece : '\0')).join('') ?? ''
}
