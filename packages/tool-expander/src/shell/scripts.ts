import { STARTS_ANOTHER, shapeOf } from '../command-words.js'
import { baseName, findProgramText, operandIndex, SHELLS } from '../interpreters.js'
import { isWholeParameter } from '../template.js'
import { refuse, type Scan, type Word } from './scan.js'
import type { SimpleCommand } from './simple.js'

export const STANDARD_INPUT = /^(?:-(?:[A-Za-z]*s)?|\/.*\/(?:stdin|fd\/0))$/

/** Refuses values in scripts that a command hands to another shell: as a word, or as what that reads. */
export function checkScripts(scan: Scan, command: SimpleCommand, assignments: readonly Word[]): void {
  const { words, inputs, foundBefore, documentsBefore } = command
  const shapes = words.map(shapeOf)
  const refuseGlued = (word: Word | undefined, place: string) => {
    if (word && !isWholeParameter(word.pieces)) refuse(scan, word.found, place)
  }
  const scripts = findProgramText(shapes).filter(([, interpreter]) => SHELLS.has(interpreter))
  for (const [index, interpreter] of scripts) refuseGlued(words[index], `a script for ${interpreter} -c`)

  const fed = scan.found.slice(scan.fedFrom, foundBefore)
  const documents = scan.pending.slice(scan.fedFrom < Infinity ? 0 : documentsBefore)
  scan.commands.push({ assignments, words, isFed: fed.length > 0, documents })
  const at = shellIndex(shapes)
  if (at < 0 || scripts.length > 0) return
  const shell = baseName(shapes[at] ?? '')
  const file = operandIndex(shapes, at)
  const operand = words[file]
  if (operand && scan.template.startsWith('<(', operand.offset)) refuseGlued(operand, `a script for ${shell}`)
  else if (operand && !shapes.slice(at + 1, file + 1).some((word) => STANDARD_INPUT.test(word))) return
  refuse(scan, fed, `the input of ${shell}`)
  for (const word of inputs) refuseGlued(word, `a script for ${shell}`)
  for (const document of documents) document.interpreter = shell
}

/** Where a shell stands that the command starts. What `xargs` feeds becomes words, so that does not count. */
export function shellIndex(shapes: readonly string[]): number {
  const [name = '', ...others] = shapes.map(baseName)
  if (/^(?:\.|source)$/.test(name) || SHELLS.has(name)) return 0
  const index =
    STARTS_ANOTHER.has(name) && name !== 'xargs' ? others.findIndex((word) => SHELLS.has(word)) : -1
  return index < 0 ? index : index + 1
}
