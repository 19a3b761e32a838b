import { findProgramText } from '../interpreters.js'
import { isEngineVariable } from '../template.js'
import {
  beginningOf,
  describe,
  type Found,
  literalOf,
  type Piece,
  refuse,
  type Scan,
  type Word,
} from './scan.js'
import type { SimpleCommand } from './simple.js'

/** Builtins whose words the shell runs or computes. */
const RUNS_ITS_WORDS = /^(?:eval|trap|let|alias|bind|compgen|complete|enable|fc)$/
/** Builtins whose words are names of variables; a name can hold a subscript, and that is computed. */
const TAKES_NAMES = /^(?:declare|typeset|local|readonly|export|unset|read|readarray|mapfile|getopts)$/
const ASSIGNMENT = /^([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=/
/** Variables whose text the shell runs. */
const RUN_LATER = /^(?:PS[0-4]|PROMPT_COMMAND|ENV|BASH_ENV)\+?=/
const GLUED_PROGRAM = /^(?:[gmn]?awk|g?sed|jq|yq|perl|python[\d.]*|node|ruby|php|ssh)$/

/** Checks a finished simple command: what it would do with a value, and which values must not begin with `-`. */
export function checkCommand(scan: Scan, command: SimpleCommand): void {
  const { words } = command
  const prefix = words.findIndex((word) => !ASSIGNMENT.test(shapeOf(word)))
  for (const word of prefix === -1 ? words : words.slice(0, prefix)) checkAssignment(scan, word)
  let first = prefix === -1 ? words.length : prefix
  while (/^(?:command|builtin)$/.test(literalOf(words[first] ?? NO_WORD) ?? '')) {
    first += 1
    while (/^-/.test(beginningOf(words[first] ?? NO_WORD))) first += 1
  }
  const name = literalOf(words[first] ?? NO_WORD) ?? ''
  const operands = words.slice(first + 1)
  checkBuiltin(scan, name, operands)
  checkPrograms(scan, command)
  if (prefix !== -1) checkWords(scan, words.slice(prefix))
}

const NO_WORD: Word = {
  offset: 0,
  pieces: [null],
  quoted: false,
  leads: true,
  brace: false,
  operands: 0,
  found: [],
}

function checkAssignment(scan: Scan, word: Word): void {
  const shape = shapeOf(word)
  scan.remarks.push({ kind: 'assigned', what: ASSIGNMENT.exec(shape)?.[1] ?? '', offset: word.offset })
  const before = word.pieces.findIndex((piece) => typeof piece === 'string' && piece.includes('='))
  if (word.pieces.slice(0, before).some((piece) => typeof piece === 'object')) {
    refuse(scan, word.found, 'an array subscript', 'Use a name or a number of your own here.')
  }
  if (RUN_LATER.test(shape))
    refuse(scan, word.found, 'a variable whose text the shell runs', 'Use another variable.')
}

function checkBuiltin(scan: Scan, name: string, operands: readonly Word[]): void {
  const found = operands.flatMap((word) => word.found)
  if (RUNS_ITS_WORDS.test(name)) refuse(scan, found, `the words of ${name}`, `Do without ${name}.`)
  else if (TAKES_NAMES.test(name)) {
    for (const word of operands) {
      if (ASSIGNMENT.test(beginningOf(word))) checkAssignment(scan, word)
      else
        refuse(
          scan,
          word.found,
          `the words of ${name}, which are names`,
          'Write the name out: export NAME=${value}.',
        )
      if (/^[-+]\w*[in]/.test(beginningOf(word)) && !/^(?:read|export|mapfile|readarray)/.test(name)) {
        hazard(
          scan,
          word,
          `${name} ${beginningOf(word)} makes the shell compute what is assigned.`,
          'ERR_SHELL_CODE',
        )
      }
    }
  } else if (name === 'printf' && beginningOf(operands[0] ?? NO_WORD).startsWith('-v')) {
    refuse(
      scan,
      operands.slice(0, 2).flatMap((word) => word.found),
      'the name printf -v takes',
      'Write the name out.',
    )
  } else if (name === 'shift' || (name === 'set' && operands.some((word) => !isSetOption(word)))) {
    const word = operands[0] ?? NO_WORD
    hazard(
      scan,
      word,
      `${name} changes $1, so the placeholders would no longer be the values.`,
      'ERR_SHELL_POSITIONAL',
    )
  } else if (name === '[' || name === 'test') checkTest(scan, operands, true)
  else if (name === 'source')
    scan.remarks.push({ kind: 'bash', what: 'source', offset: operands[0]?.offset ?? 0 })
}

function isSetOption(word: Word): boolean {
  return /^(?:[-+][A-Za-z]+|pipefail|errexit|nounset|noglob|xtrace|posix)$/.test(literalOf(word) ?? '-')
}

function hazard(
  scan: Scan,
  { offset }: Word,
  message: string,
  code: 'ERR_SHELL_CODE' | 'ERR_SHELL_POSITIONAL',
): void {
  scan.hazards.push(describe(scan, offset, message, 'Use variables of your own: x=${value}; … "$x".', code))
}

/** Operands of a numeric comparison, and names after -v, are computed by some shells. */
export function checkTest(scan: Scan, words: readonly Word[], outputIsSafe = false): void {
  words.forEach((word, index) => {
    const operator = literalOf(word) ?? ''
    const isNumeric = /^-(?:eq|ne|lt|le|gt|ge)$/.test(operator)
    if (!isNumeric && !/^-[vR]$/.test(operator)) return
    const operands = [
      ...(isNumeric ? words.slice(Math.max(0, index - 1), index) : []),
      ...words.slice(index + 1, index + 2),
    ]
    const found = operands.flatMap((operand) => (outputIsSafe ? valuesOf(operand) : operand.found))
    refuse(
      scan,
      found,
      `an operand of ${operator}`,
      'Compare as text with =, or check first: case ${n} in *[!0-9]*) …',
    )
  })
}

/** Program text of interpreters, and scripts they read from standard input. */
function checkPrograms(scan: Scan, { words, hereStrings, documentsBefore }: SimpleCommand): void {
  const texts = words.map(beginningOf)
  const programs = findProgramText(texts)
  for (const { index, interpreter } of programs) {
    const word = words[index]
    if (word === undefined || isWhole(word)) continue
    if (isShell(interpreter)) {
      refuse(
        scan,
        word.found,
        `a script for ${interpreter} -c`,
        `Write ${interpreter} -c '… "$1"' _ \${value}.`,
      )
    }
  }
  words.forEach((word, index) => {
    const program = texts
      .slice(0, index)
      .map(baseName)
      .find((name) => GLUED_PROGRAM.test(name))
    if (program === undefined || !word.quoted || isWhole(word) || !/\s|[(){}\\/]/.test(shapeOf(word))) return
    for (const { offset } of valuesOf(word)) scan.remarks.push({ kind: 'program', what: program, offset })
  })
  const reader = texts.map(baseName).find((name) => isShell(name) || /^(?:ssh|\.|source)$/.test(name))
  if (reader === undefined) return
  const streams = words.filter(({ offset }) => scan.text.startsWith('<(', offset))
  for (const word of [...hereStrings, ...streams]) {
    if (!isWhole(word))
      refuse(scan, word.found, `a script that ${reader} reads`, `Write sh -c '… "$1"' _ \${value}.`)
  }
  if (programs.length > 0 && reader !== 'ssh') return
  for (const document of scan.pending.slice(documentsBefore)) document.interpreter = reader
}

function isShell(name: string): boolean {
  return /^(?:(?:ba|da|z|k|mk|a|fi)?sh|su|runuser|script|flock)$/.test(name)
}

function baseName(text: string): string {
  return text.slice(text.lastIndexOf('/') + 1)
}

/** Notes for each value that can begin a word how that word is checked at call time. */
export function checkWords(scan: Scan, words: readonly Word[]): void {
  for (const word of words) {
    if (literalOf(word) === '--') return
    const leading = valuesOf(word).filter(({ name, leads, raw }) => leads && !raw && !isEngineVariable(name))
    const start = word.pieces.findIndex((piece) => piece !== null)
    const pieces = word.pieces.slice(start)
    for (const found of leading) {
      found.checked = pieces.length === 1 ? 'value' : 'word'
      if (word.brace) scan.checkedWords.add(`${writePiece(found)}…`)
    }
    if (leading.length > 0 && pieces.length > 1 && !word.brace)
      scan.checkedWords.add(pieces.map(writePiece).join(''))
  }
}

function writePiece(piece: Piece): string {
  if (piece === null) return '…'
  return typeof piece === 'string' ? piece.replace(/(\\*)\$\{/g, '$1$1\\${') : `\${${piece.name}}`
}

function valuesOf({ pieces }: Word): Found[] {
  return pieces.filter((piece) => typeof piece === 'object' && piece !== null)
}

function isWhole({ pieces }: Word): boolean {
  return pieces.length === 1 && typeof pieces[0] === 'object' && pieces[0] !== null
}

/** A word as text, with a mark for each part that is not fixed. */
function shapeOf({ pieces }: Word): string {
  return pieces.map((piece) => (typeof piece === 'string' ? piece : '\0')).join('')
}
