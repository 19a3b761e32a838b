import { forLeadingValues } from '../command-words.js'
import type { ToolProblemCode } from '../problems.js'
import { namesOf, RUN_LATER } from '../programs.js'
import { writeElement } from '../template.js'
import { CHECK_NUMBER } from './opaque.js'
import { isSplit, refuse, type Scan, type Word } from './scan.js'
import { checkScripts } from './scripts.js'
import type { SimpleCommand } from './simple.js'

/** Builtins whose words are names of variables; a name can hold a subscript, and that is computed. */
const TAKES_NAMES = namesOf('declare typeset local readonly export unset read readarray mapfile getopts')
/** Builtins whose words the shell runs or computes. */
const RUNS_ITS_WORDS = namesOf('eval trap let alias bind compgen complete enable fc')
/** Options of `read` with a word that is no name. */
const TAKES_TEXT = /^-[ers]*[diNnptu]$/
const ASSIGN_FIRST = 'Assign it first: x=${value}; declare -r x'
const RUN_LATER_PLACE = 'a variable whose text the shell runs'
export const ASSIGNMENT = /^[A-Za-z_]\w*(\[.*\])?\+?=/s

/** Checks a finished simple command: what it would do with a value, and which values must not begin with `-`. */
export function checkCommand(scan: Scan, command: SimpleCommand): void {
  const { words, elements } = command
  const first = words.findIndex((word) => !checkAssignment(scan, word))
  const assignments = words.splice(0, first < 0 ? words.length : first)
  noteValues(scan, words, words[0]?.shape === 'in')
  noteValues(scan, elements, true)
  checkScripts(scan, command, assignments)
  const builtin = words.findIndex(({ shape }) => !/^(?:command$|builtin$|exec$|-)/.test(shape))
  const name = words[builtin]
  if (name) checkBuiltin(scan, name, words.slice(builtin + 1))
}

/** Notes for each value that can begin a word how that word is checked at call time. */
function noteValues(scan: Scan, words: readonly Word[], isList: boolean): void {
  let last: Word | undefined
  // A -- in a list is one more element.
  forLeadingValues(isList ? words.filter(({ shape }) => shape !== '--') : words, (value, word) => {
    const { pieces, brace } = word
    const start = pieces.findIndex((piece) => piece !== null)
    const isAlone = pieces.length === start + 1
    value.checked = isAlone ? 'value' : 'word'
    // Once for all values of a word, unless each of them begins one.
    if (!isAlone && (brace || word !== last))
      scan.checkedWords.add(
        writeElement(brace ? [value, '…'] : pieces.slice(start).map((piece) => piece ?? '…')),
      )
    last = word
  })
}

/** False when a word is no assignment. */
function checkAssignment(scan: Scan, { shape, found }: Word): boolean {
  const assignment = ASSIGNMENT.exec(shape)
  if (!assignment) return false
  if (assignment[1]?.includes('\0')) refuse(scan, found, 'an array subscript', CHECK_NUMBER)
  if (RUN_LATER.test(shape)) refuse(scan, found, RUN_LATER_PLACE)
  return true
}

function checkBuiltin(scan: Scan, { shape: name, offset }: Word, operands: readonly Word[]): void {
  const place = `the words of ${name}`
  const hazard = (code: ToolProblemCode, what: string) => scan.hazards.push([offset, code, `${what}.`])
  const refuseIn = (words: readonly Word[], isRaw?: boolean) => {
    for (const { found } of words)
      refuse(scan, isRaw ? found.filter(isSplit) : found, place, name === 'let' ? CHECK_NUMBER : undefined)
  }
  let changes = false
  if (RUNS_ITS_WORDS.has(name)) {
    refuseIn(operands)
    changes = operands.some(({ shape }) => /\b(?:set|shift)\b/.test(shape))
  } else if (TAKES_NAMES.has(name)) {
    const isArray = operands.some(({ shape }) => /^-\w*[aA]/.test(shape))
    for (const [index, word] of operands.entries()) {
      const { shape, found } = word
      if (name === 'read' && TAKES_TEXT.test(operands[index - 1]?.shape ?? '') && !found.some(isSplit))
        continue
      // What is assigned to an array is read as words: ($(…)).
      const isRead = isArray || (/^[dt]/.test(name) && /=[(\0]/.test(shape))
      const isAssignment = checkAssignment(scan, word)
      if (!isAssignment || isRead) refuse(scan, found, place, isAssignment ? ASSIGN_FIRST : undefined)
      if (/^[dtl]/.test(name) && /^[-+]\w*[in]/.test(shape))
        hazard('ERR_SHELL_CODE', `${name} ${shape} computes what is assigned`)
    }
  } else if (name === '[' || name === 'test') {
    // They read a number, and compute nothing; -v and a name can be among their words.
    checkOperands(scan, operands, /^-[vR]$/)
    refuseIn(operands, true)
  } else if (name === 'printf' || name === 'wait') {
    const { shape: option = '' } = operands[0] ?? {}
    if (/^-(?:v|\w*p$)/.test(option)) {
      const isLater = RUN_LATER.test(`${option.slice(2) || operands[1]?.shape}=`)
      refuseIn(isLater ? operands : operands.slice(0, 2))
    }
    refuseIn(name === 'wait' ? operands : operands.slice(0, 1), true)
  } else changes = name === 'shift' || (name === 'set' && !operands.every(isSetOption))
  if (changes && !scan.inFunction) hazard('ERR_SHELL_POSITIONAL', `${name} changes $1`)
}

function isSetOption({ shape }: Word, index: number, words: readonly Word[]): boolean {
  return /^[-+][A-Za-z]+$/.test(shape) || /^[-+]\w*o$/.test(words[index - 1]?.shape ?? '')
}

/** Refuses values as operands of the operators by which a shell computes: the word behind each, and that before it unless it takes a name. */
export function checkOperands(scan: Scan, words: readonly Word[], computing: RegExp): void {
  words.forEach(({ shape: operator }, index) => {
    if (!computing.test(operator)) return
    for (const operand of [words[index + 1], /[vR]/.test(operator) ? undefined : words[index - 1]])
      refuse(scan, operand?.found ?? [], `an operand of ${operator}`, CHECK_NUMBER)
  })
}
