import { shapeOf } from '../command-words.js'
import {
  baseName,
  findProgramText,
  operandIndex,
  type ProgramText,
  programIndex,
  SHELL,
} from '../interpreters.js'
import { isWholeParameter } from '../template.js'
import { runsWhatItIsGiven } from './rules.js'
import { type Found, hazard, refuse, type Scan, type Word } from './scan.js'
import type { SimpleCommand } from './simple.js'

/** Programs that run what they read, unless they are told what to run. */
const RUNS_INPUT = /^(?:ssh|parallel|\.|source)$/
const STANDARD_INPUT = /^(?:-[A-Za-z]*s|-|\/dev\/(?:stdin|fd\/0)|\/proc\/self\/fd\/0)$/

/** Refuses values in scripts that a command hands to another shell: as a word, or as what that reads. */
export function checkScripts(scan: Scan, { words, inputs, documentsBefore }: SimpleCommand): void {
  const shapes = words.map(shapeOf)
  const refuseGlued = (word: Word | undefined, place: string) => {
    if (word && !isWholeParameter(word.pieces)) refuse(scan, word.found, place)
  }
  const texts = findProgramText(shapes)
  const scripts = texts.filter(([, interpreter]) => SHELL.test(interpreter))
  for (const [index, interpreter] of scripts) {
    refuseGlued(words[index], `a script for ${interpreter} -c`)
    if (shapes[index]?.includes('\0')) runsWhatItIsGiven(scan, words[index], interpreter)
  }
  const names = shapes.map(baseName)
  const at = names.findIndex((name) => SHELL.test(name) || RUNS_INPUT.test(name))
  // What is only a redirection belongs to the compound command before it.
  const reader = words.length === 0 ? scan.reader : names[at]
  const fed = scan.found.slice(scan.fedFrom).filter(({ offset }) => offset < (words[0]?.offset ?? 0))
  scan.commands.push({ words, isFed: fed.length > 0 })
  if (runsInput(shapes, texts, at)) checkFeeding(scan, words, names[at] ?? '', fed)
  else if (names[programIndex(shapes)]?.includes('\0')) refuse(scan, fed, 'the input of a computed command')
  if (reader === undefined) return
  const streams = words.filter(({ offset }) => scan.template.startsWith('<(', offset))
  for (const word of [...inputs, ...streams]) refuseGlued(word, `a script for ${reader}`)
  if (scripts.length > 0 && reader !== 'ssh') return
  for (const document of scan.pending.slice(documentsBefore)) document.interpreter = reader
}

/** Refuses values that a pipe, or whoever calls this, may feed to a program that runs what it reads. */
function checkFeeding(scan: Scan, words: readonly Word[], reader: string, fed: readonly Found[]): void {
  scan.reader = reader
  refuse(scan, fed, `the input of ${reader}`)
  if (scan.fedFrom < Infinity) for (const document of scan.pending) document.interpreter = reader
  if (scan.inSink) hazard(scan, words[0], `${reader} runs what is fed to it`)
  runsWhatItIsGiven(scan, words[0], reader)
}

/** Whether the program at an index, if it gets standard input, runs that as a script. */
function runsInput(shapes: readonly string[], texts: readonly ProgramText[], at: number): boolean {
  const names = shapes.map(baseName)
  const name = names[at]
  if (name === undefined || /^(?:[efz]?grep|rg)$/.test(names[programIndex(shapes)] ?? '')) return false
  // xargs makes words of what it reads, and with -I text of the script.
  if (names.slice(0, at).includes('xargs'))
    return name === 'ssh' || texts.length < 2 || shapes.some((word) => /^(?:-\w*[iIJ]|--replace)/.test(word))
  if (name === 'ssh') return !texts.some(([index]) => index === names.length - 1)
  const operand = operandIndex(shapes, at)
  const words = shapes.slice(at + 1, operand + 1)
  return texts.length === 0 && (operand === names.length || words.some((word) => STANDARD_INPUT.test(word)))
}
