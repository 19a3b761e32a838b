import { forLeadingValues, shapeOf } from '../command-words.js'
import type { ToolProblemCode } from '../problems.js'
import { RUN_LATER } from '../program-text.js'
import { namesOf } from '../programs.js'
import { writeElement } from '../template.js'
import { CHECK_NUMBER } from './opaque.js'
import { type Found, refuse, type Scan, type Word } from './scan.js'
import { checkScripts } from './scripts.js'
import type { SimpleCommand } from './simple.js'

/** Builtins whose words the shell runs or computes. */
const RUNS_ITS_WORDS = namesOf('eval trap let alias bind compgen complete enable fc')
/** Builtins whose words are names of variables; a name can hold a subscript, and that is computed. */
export const TAKES_NAMES = namesOf(
  'declare typeset local readonly export unset read readarray mapfile getopts',
)
const ASSIGN_FIRST = 'Assign it first: x=${value}; declare -r x'
export const RUN_LATER_PLACE = 'a variable whose text the shell runs'
export const ASSIGNMENT = /^[A-Za-z_]\w*(\[.*\])?\+?=/s

/** Checks a finished simple command: what it would do with a value, and which values must not begin with `-`. */
export function checkCommand(scan: Scan, command: SimpleCommand): void {
  const { words, elements } = command
  const first = words.findIndex((word) => !checkAssignment(scan, word))
  const assignments = words.splice(0, first < 0 ? words.length : first)
  // A -- in a list is one more element.
  const isList = shapeOf(words[0]) === 'in'
  checkWords(scan, isList ? withoutDashes(words) : words)
  checkWords(scan, withoutDashes(elements))
  checkScripts(scan, command, assignments)
  checkBuiltin(
    scan,
    words.slice(words.findIndex((word) => !/^(?:command$|builtin$|exec$|-)/.test(shapeOf(word)))),
  )
}

function withoutDashes(words: readonly Word[]): Word[] {
  return words.filter((word) => shapeOf(word) !== '--')
}

/** False when a word is no assignment. */
function checkAssignment(scan: Scan, word: Word): boolean {
  const shape = shapeOf(word)
  const [written, subscript] = ASSIGNMENT.exec(shape) ?? []
  if (written === undefined) return false
  if (subscript?.includes('\0')) refuse(scan, word.found, 'an array subscript')
  if (RUN_LATER.test(shape)) refuse(scan, word.found, RUN_LATER_PLACE)
  return true
}

function checkBuiltin(scan: Scan, [command, ...operands]: readonly Word[]): void {
  const name = shapeOf(command)
  const found = foundIn(operands)
  const hazard = (code: ToolProblemCode, what: string) =>
    scan.hazards.push([command?.offset ?? 0, code, `${what}.`])
  if (RUNS_ITS_WORDS.has(name)) {
    refuse(scan, found, `the words of ${name}`)
    if (!scan.inFunction && operands.some((word) => /\b(?:set|shift)\b/.test(shapeOf(word))))
      hazard('ERR_SHELL_POSITIONAL', `${name} changes $1`)
  } else if (TAKES_NAMES.has(name)) {
    const isArray = operands.some((word) => /^-\w*[aA]/.test(shapeOf(word)))
    for (const word of operands) {
      const option = shapeOf(word)
      // What is assigned to an array is read as words: ($(…)).
      const isRead = isArray || (/^[dt]/.test(name) && /=[(\0]/.test(option))
      const isAssignment = checkAssignment(scan, word)
      if (!isAssignment || isRead)
        refuse(scan, word.found, `the words of ${name}`, isAssignment ? ASSIGN_FIRST : undefined)
      if (/^[dtl]/.test(name) && /^[-+]\w*[in]/.test(option))
        hazard('ERR_SHELL_CODE', `${name} ${option} computes what is assigned`)
    }
  } else if (/^(?:printf -v|wait -\w*p)/.test(`${name} ${shapeOf(operands[0])}`))
    refuse(scan, foundIn(operands.slice(0, 2)), `the name ${name} takes`)
  else if (!scan.inFunction && (name === 'shift' || (name === 'set' && !operands.every(isSetOption))))
    hazard('ERR_SHELL_POSITIONAL', `${name} changes $1`)
  else if (name === '[' || name === 'test') checkTest(scan, operands, true)
  // One value becomes several words, -v and a name among them.
  const split = name === 'printf' ? operands.slice(0, 1) : /^(?:\[|test)$/.test(name) ? operands : []
  refuse(
    scan,
    foundIn(split).filter(({ raw, quoting }) => raw && quoting === 'bare'),
    `the words of ${name}`,
  )
}

function isSetOption(word: Word, index: number, words: readonly Word[]): boolean {
  return /^[-+][A-Za-z]+$/.test(shapeOf(word)) || /^[-+]\w*o$/.test(shapeOf(words[index - 1]))
}

/** Operands of a numeric comparison, and names after -v, are computed by some shells. */
export function checkTest(scan: Scan, words: readonly Word[], outputIsSafe: boolean): void {
  words.forEach((word, index) => {
    const operator = shapeOf(word)
    const isNumeric = /^-(?:eq|ne|lt|le|gt|ge)$/.test(operator)
    if (!isNumeric && !/^-[vR]$/.test(operator)) return
    const operands = [words[index + 1], isNumeric ? words[index - 1] : undefined]
    const found = operands.flatMap((operand) =>
      isNumeric && outputIsSafe ? valuesOf(operand) : (operand?.found ?? []),
    )
    refuse(scan, found, `an operand of ${operator}`, CHECK_NUMBER)
  })
}

/** Notes for each value that can begin a word how that word is checked at call time. */
function checkWords(scan: Scan, words: readonly Word[]): void {
  forLeadingValues(words, (value, { pieces, brace }) => {
    const known = pieces.slice(pieces.findIndex((piece) => piece !== null)).map((piece) => piece ?? '…')
    value.checked = known.length === 1 ? 'value' : 'word'
    if (known.length > 1) scan.checkedWords.add(writeElement(brace ? [value, '…'] : known))
  })
}

function foundIn(words: readonly Word[]): Found[] {
  return words.flatMap(({ found }) => found)
}

export function valuesOf(word: Word | undefined): Found[] {
  return word?.pieces.filter((piece) => typeof piece === 'object' && piece !== null) ?? []
}
