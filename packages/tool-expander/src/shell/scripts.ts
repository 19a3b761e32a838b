import { findProgramText } from '../program-text.js'
import {
  baseName,
  isShell,
  isUnknown,
  mayStartAnother,
  namesShell,
  operandIndex,
  programOf,
  SHELL_TEXT,
} from '../programs.js'
import { isWholeParameter, matchAt } from '../template.js'
import { isSplit, refuse, type Scan, type Word } from './scan.js'
import type { SimpleCommand } from './simple.js'

/** Option or file by which a shell reads its script from standard input. */
const STANDARD_INPUT = /^-[A-Za-z]*s$|(?:^|\/)(?:stdin|fd\/[\d\0]+)$/

/** Refuses values in scripts that a command hands to another shell: as a word, or as what that reads. */
export function checkScripts(scan: Scan, command: SimpleCommand, assignments: readonly Word[]): void {
  const { words, inputs, foundBefore, documentsBefore } = command
  const shapes = words.map((word) => shapeInScript(scan, word))
  const refuseGlued = (word: Word | undefined, place: string, isJoined = false) => {
    if (word && (isJoined || !isWholeParameter(word.pieces))) refuse(scan, word.found, place)
  }
  /** By interpreters with a text: whether that starts a shell. */
  const told = new Map<string, boolean>()
  for (const [index, interpreter, isJoined] of findProgramText(shapes)) {
    told.set(interpreter, told.get(interpreter) || namesShell(shapes[index] ?? ''))
    if (isJoined || !programOf(interpreter)?.isForeign)
      refuseGlued(words[index], `a script for ${interpreter}${isShell(interpreter) ? ' -c' : ''}`, isJoined)
  }

  const fed = scan.found.slice(scan.fedFrom, foundBefore)
  const documents = scan.pending.slice(scan.fedFrom < Infinity ? 0 : documentsBefore)
  scan.commands.push({ assignments, words, inputs, fedFrom: scan.fedFrom, fedTo: foundBefore, documents })
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
  const at = places.find((place) => readsInput(shapes, place, told))
  if (at === undefined) return
  const shell = baseName(shapes[at])
  if (scan.inOutput) {
    const message = `What this ${shell} reads would become code.`
    scan.hazards.push([words[at]?.offset ?? 0, 'ERR_SHELL_CODE', message])
  }
  refuse(scan, fed, `the input of ${shell}`)
  // Whoever feeds a shell a whole script means to; no one means that with read.
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

/** True for what runs what it is fed: no text, file or command was given to it, or a text that starts a shell. */
function readsInput(shapes: readonly string[], at: number, told: ReadonlyMap<string, boolean>): boolean {
  const { takes, command, when, readsFile } = programOf(shapes[at]) ?? {}
  const startsShell = told.get(baseName(shapes[at]))
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
