import { shapeOf } from '../command-words.js'
import {
  baseName,
  destinationIndex,
  findProgramText,
  operandIndex,
  programIndex,
  SHELL,
  WRAPPER,
} from '../interpreters.js'
import { isWholeParameter } from '../template.js'
import { hazard } from './rules.js'
import { refuse, type Scan, type Word } from './scan.js'
import type { SimpleCommand } from './simple.js'

const STANDARD_INPUT = /^(?:-[A-Za-z]*s|-|\/dev\/(?:stdin|fd\/0)|\/proc\/self\/fd\/0)$/
const HINT = `Write sh -c '… "$1"' _ \${value}`

/** Refuses values in scripts that a command hands to another shell: as a word, or as what that reads. */
export function checkScripts(scan: Scan, command: SimpleCommand, words: readonly Word[]): void {
  const shapes = words.map(shapeOf)
  const refuseGlued = (word: Word | undefined, place: string) => {
    if (word && !isWholeParameter(word.pieces)) refuse(scan, word.found, place, HINT)
  }
  const programs = findProgramText(shapes).filter(([, interpreter]) => SHELL.test(interpreter))
  for (const [index, interpreter] of programs) {
    refuseGlued(words[index], `a script for ${interpreter} -c`)
    if (scan.inFunction && shapes[index]?.includes('\0'))
      hazard(scan, words[index], `${interpreter} -c in a function runs what the function is given`)
  }
  const names = shapes.map(baseName)
  const isFed = names.findIndex((_, index) => runsInput(shapes, index, programs))
  checkFeeding(scan, command, names[isFed])

  const other = names.find((name) => SHELL.test(name) || /^(?:ssh|\.|source)$/.test(name))
  // What is only a redirection belongs to the compound command before it.
  const reader = words.length === 0 ? scan.reader : other
  if (reader === undefined) return
  const streams = words.filter(({ offset }) => scan.text.startsWith('<(', offset))
  for (const word of [...command.inputs, ...streams]) refuseGlued(word, `a script for ${reader}`)
  if (programs.length > 0 && reader !== 'ssh') return
  for (const document of scan.pending.slice(command.documentsBefore)) document.interpreter = reader
}

/** Refuses values that a pipe, or whoever calls this, may feed to a command that runs what it reads. */
function checkFeeding(scan: Scan, { words }: SimpleCommand, reader: string | undefined): void {
  const fed = scan.found.slice(scan.fedFrom).filter(({ offset }) => offset < (words[0]?.offset ?? 0))
  scan.commands.push({ words, isFed: fed.length > 0 })
  if (reader === undefined) return
  const name = reader.replaceAll('\0', '…')
  scan.reader ??= name
  refuse(scan, fed, `the input of ${name}`, HINT)
  if (scan.fedFrom < Infinity) for (const document of scan.pending) document.interpreter = name
  if (scan.inSink || scan.inFunction) hazard(scan, words[0], `${name} runs what is fed to it from elsewhere`)
}

/** Whether the word at an index names a program that runs its standard input as a script. */
function runsInput(shapes: readonly string[], index: number, programs: readonly unknown[]): boolean {
  const names = shapes.map(baseName)
  const name = names[index] ?? ''
  const program = programIndex(shapes)
  if (index !== program && !WRAPPER.test(names[0] ?? '')) return false
  const xargs = names.slice(0, index).indexOf('xargs')
  if (/^(?:at|batch|parallel)$/.test(name)) return true
  if (name === 'ssh') return xargs >= 0 || destinationIndex(shapes, index) >= shapes.length - 1
  if (name.includes('\0')) return index === program
  const operand = operandIndex(shapes, index)
  const operands = shapes.slice(index + 1, operand + 1)
  if (name === '.' || name === 'source') return operands.some((word) => STANDARD_INPUT.test(word))
  if (!SHELL.test(name) || name === 'flock') return false
  // xargs makes words of its input, and with -I text of the script.
  if (xargs >= 0)
    return (
      programs.length === 0 ||
      operand === shapes.length ||
      shapes.slice(xargs, index).some((word) => /^(?:-\w*[iIJ]|--replace)/.test(word))
    )
  if (programs.length > 0) return false
  return (
    /^(?:su|runuser|script)$/.test(name) ||
    operand === shapes.length ||
    operands.some((word) => STANDARD_INPUT.test(word))
  )
}
