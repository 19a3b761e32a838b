import {
  baseName,
  findProgramText,
  forLeadingValues,
  isShell,
  isUnknown,
  mayStartAnother,
  namesOf,
  namesShell,
  operandIndex,
  programOf,
  RUN_LATER,
  SHELL_TEXT,
} from '../interpreters.js'
import type { ToolProblemCode } from '../problems.js'
import { isWholeParameter, matchAt, type Placeholder, type Word, writeElement } from '../template.js'
import { CHECK_NUMBER, refuse, type Scan } from './scan.js'

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

/** Builtins whose words are names of variables; a name can hold a subscript, and that is computed. */
const TAKES_NAMES = namesOf('declare typeset local readonly export unset read readarray mapfile getopts')
/** Builtins whose words the shell runs or computes. */
const RUNS_ITS_WORDS = namesOf('eval trap let alias bind compgen complete enable fc')
/** Options of `read` with a word that is not a name. */
const TAKES_TEXT = /^-[ers]*[diNnptu]$/
const ASSIGN_FIRST = 'Assign it first: x=${value}; declare -r x'
const RUN_LATER_PLACE = 'a variable whose text the shell runs'
export const ASSIGNMENT = /^[A-Za-z_]\w*(\[.*\])?\+?=/s

/** Checks a finished simple command: what it would do with a value, and which values must not begin with `-`. */
export function checkCommand(scan: Scan, command: SimpleCommand): void {
  const { words, elements } = command
  const first = words.findIndex((word) => !checkAssignment(scan, word))
  words.splice(0, first < 0 ? words.length : first)
  noteValues(scan, words, words[0]?.shape === 'in')
  noteValues(scan, elements, true)
  checkScripts(scan, command)
  const builtin = words.findIndex(({ shape }) => !/^(?:command$|builtin$|exec$|-)/.test(shape))
  const name = words[builtin]
  if (name) checkBuiltin(scan, name, words.slice(builtin + 1))
}

/** Notes for each value that can begin a word how that word is checked at call time. */
function noteValues(scan: Scan, words: readonly Word[], isList: boolean): void {
  let last: Word | undefined
  // A -- in a list is one more element.
  forLeadingValues(isList ? words.filter(({ shape }) => shape !== '--') : words, (value, word) => {
    const { pieces } = word
    const isBrace = word.beginning === 'brace'
    const start = pieces.findIndex((piece) => piece !== null)
    const isAlone = pieces.length === start + 1
    value.checked = isAlone ? 'value' : 'word'
    // Once for all values of a word, unless each of them begins one.
    if (!isAlone && (isBrace || word !== last))
      scan.checkedWords.add(
        writeElement(isBrace ? [value, '…'] : pieces.slice(start).map((piece) => piece ?? '…')),
      )
    last = word
  })
}

/** False when a word is not an assignment. */
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

/** True for a value that the shell makes several words of. */
function isSplit({ raw, quoting }: Placeholder): boolean {
  return !!raw && quoting === 'bare'
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

/** Option or file by which a shell reads its script from standard input. */
const STANDARD_INPUT = /^-[A-Za-z]*s$|(?:^|\/)(?:stdin|fd\/[\d\0]+)$/

/** Refuses values in scripts that a command hands to another shell: as a word, or as what that reads. */
function checkScripts(scan: Scan, { words, inputs, foundBefore, documentsBefore }: SimpleCommand): void {
  const shapes = words.map((word) => shapeInScript(scan, word))
  const refuseGlued = (word: Word | undefined, place: string, isJoined = false) => {
    if (word && (isJoined || !isWholeParameter(word.pieces))) refuse(scan, word.found, place)
  }
  /** By the name of an interpreter: whether its script starts a shell. */
  const startsShell = new Map<string, boolean>()
  for (const [index, interpreter, isJoined] of findProgramText(shapes)) {
    startsShell.set(interpreter, startsShell.get(interpreter) || namesShell(shapes[index] ?? ''))
    if (isJoined || !programOf(interpreter)?.isForeign)
      refuseGlued(words[index], `a script for ${interpreter}${isShell(interpreter) ? ' -c' : ''}`, isJoined)
  }

  const fed = scan.found.slice(scan.fedFrom, foundBefore)
  const documents = scan.pending.slice(scan.fedFrom < Infinity ? 0 : documentsBefore)
  scan.commands.push({ words, documents })
  const places = shellPlaces(shapes)
  for (const at of places) {
    const { readsFile, text } = programOf(shapes[at]) ?? {}
    if (!readsFile) continue
    for (const word of words.slice(at + 1, operandIndex(shapes, at) + 1)) {
      const place = `a script for ${shapes[at]}`
      if (scan.template.startsWith('<(', word.offset)) refuseGlued(word, place)
      // -c and a script can be among its words.
      else if (text) refuse(scan, word.found.filter(isSplit), place)
    }
  }
  const at = places.find((place) => readsInput(shapes, place, startsShell))
  if (at === undefined) return
  const shell = baseName(shapes[at])
  if (scan.inOutput) {
    const message = `What this ${shell} reads would become code.`
    scan.hazards.push([words[at]?.offset ?? 0, 'ERR_SHELL_CODE', message])
  }
  refuse(scan, fed, `the input of ${shell}`)
  // A whole script for a shell is its author's wish; the words of read never are.
  for (const word of inputs) refuseGlued(word, `a script for ${shell}`, /^(?:read|map)/.test(shell))
  for (const document of documents) document.interpreter = shell
}

/** `$SHELL`, and `$(command -v bash)`. */
const SHELL_NAME = /"?[$`{(]+(?:BASH|SHELL|(?:which|command -v) \w*sh)\b/y

/** A word as text, and a variable or a command that names a shell as one. */
function shapeInScript({ template }: Scan, word: Word): string {
  const { shape, offset } = word
  const isShellName = isUnknown(shape) && matchAt(SHELL_NAME, template, offset)
  return isShellName ? 'sh' : shape
}

/** Where programs stand that the command may start and that may start a shell. What `xargs` feeds becomes words. */
function shellPlaces(shapes: readonly string[]): number[] {
  const builtin = shapes.findIndex((word) => !/^(?:command$|builtin$|exec$|-)/.test(baseName(word)))
  const startsAnother = mayStartAnother(shapes[0]) && baseName(shapes[0]) !== 'xargs'
  return shapes.slice(0, startsAnother ? undefined : builtin + 1).flatMap((word, index) => {
    const program = programOf(word)
    if (!program || program.isForeign || (program.text ?? program.command) === undefined) return []
    const isDot = /^(?:\.|source)$/.test(baseName(word))
    return (isDot ? index === builtin : index === 0 || startsAnother) ? [index] : []
  })
}

/** True for a program that runs its input: it got no script, file or command, or a script that starts a shell. */
function readsInput(shapes: readonly string[], at: number, scripts: ReadonlyMap<string, boolean>): boolean {
  const { takes, command, when, readsFile } = programOf(shapes[at]) ?? {}
  const startsShell = scripts.get(baseName(shapes[at]))
  if (!readsFile && (startsShell !== undefined || command === undefined)) return startsShell === true
  let end = operandIndex(shapes, at, takes, command)
  while (/^\w+=/.test(shapes[end] ?? '')) end = operandIndex(shapes, end, takes)
  const options = shapes.slice(at + 1, end)
  if (!readsFile) return end === shapes.length && when?.test(['', ...options].join(' ')) !== false
  // A -c behind -s, -- or an operand is an operand.
  if (options.some((option) => SHELL_TEXT.test(option))) return namesShell(shapes[end] ?? '')
  // The operand behind it is an image, and no script.
  if (shapes.slice(at - 1, at + 1).some((word) => word.startsWith('--entrypoint'))) return startsShell ?? true
  return end === shapes.length || shapes.slice(at + 1, end + 1).some((word) => STANDARD_INPUT.test(word))
}
