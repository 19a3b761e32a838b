import { shapeOf } from '../command-words.js'
import {
  baseName,
  findProgramText,
  mayStartAnother,
  namesShell,
  operandIndex,
  runsShell,
  SHELL_OPTION,
  SHELLS,
} from '../interpreters.js'
import { isWholeParameter } from '../template.js'
import { refuse, type Scan, type Word } from './scan.js'
import type { SimpleCommand } from './simple.js'

export const STANDARD_INPUT = /^-(?:[A-Za-z]*s)?$|(?:^|\/)(?:stdin|fd\/[\d\0]+)$/

/** Refuses values in scripts that a command hands to another shell: as a word, or as what that reads. */
export function checkScripts(scan: Scan, command: SimpleCommand, assignments: readonly Word[]): void {
  const { words, inputs, foundBefore, documentsBefore } = command
  const shapes = words.map((word) => shapeInScript(scan, word))
  const refuseGlued = (word: Word | undefined, place: string, isJoined = false) => {
    if (word && (isJoined || !isWholeParameter(word.pieces))) refuse(scan, word.found, place)
  }
  for (const [index, interpreter, isJoined] of findProgramText(shapes))
    if (isJoined || runsShell(interpreter))
      refuseGlued(
        words[index],
        `a script for ${interpreter} -c`.replace(/(adb|foreach|parallel|ssh|watch) -c/, '$1'),
        isJoined,
      )

  const fed = scan.found.slice(scan.fedFrom, foundBefore)
  const documents = scan.pending.slice(scan.fedFrom < Infinity ? 0 : documentsBefore)
  scan.commands.push({ assignments, words, isFed: fed.length > 0, documents })
  const places = shellPlaces(shapes)
  for (const at of places) {
    for (const word of words.slice(at + 1, operandIndex(shapes, at) + 1))
      if (scan.template.startsWith('<(', word.offset)) refuseGlued(word, `a script for ${shapes[at]}`)
  }
  const at = places.find((place) => readsInput(shapes, place))
  if (at === undefined) return
  const shell = baseName(shapes[at] ?? '')
  if (scan.inOutput) {
    const message = `What is written to this ${shell} would become code.`
    scan.hazards.push([words[at]?.offset ?? 0, 'ERR_SHELL_CODE', message])
  }
  refuse(scan, fed, `the input of ${shell}`)
  for (const word of inputs) refuseGlued(word, `a script for ${shell}`)
  for (const document of documents) document.interpreter = shell
}

/** A word as text, and a variable that holds a shell as one. */
function shapeInScript({ template }: Scan, word: Word): string {
  const shape = shapeOf(word)
  const isShell = /^"?\$\{?(?:BASH|SHELL)\b/.test(template.slice(word.offset, word.offset + 10))
  return isShell && /^\0+$/.test(shape) ? 'sh' : shape
}

/** Where a shell stands that the command starts. What `xargs` feeds becomes words, so that does not count. */
export function shellIndex(shapes: readonly string[]): number {
  return shellPlaces(shapes).find((place) => !/^(?:sudo|doas|env)$/.test(shapes[place] ?? '')) ?? -1
}

/** Where shells stand that the command may start. */
function shellPlaces(shapes: readonly string[]): number[] {
  const names = shapes.map(baseName)
  const [first = ''] = names
  const builtin = names.findIndex((name) => !/^(?:command|builtin|exec|-.*)$/.test(name))
  const startsAnother = mayStartAnother(shapes) && first !== 'xargs'
  return [...names.keys()].filter((index) => {
    const name = names[index] ?? ''
    if (/^(?:\.|source)$/.test(name)) return index === builtin
    return (index === 0 || startsAnother) && (SHELLS.has(name) || STARTERS.has(name))
  })
}

/** Starts a shell where no command follows: how many operands stand before it, and options that take a word. */
const STARTERS = new Map<string, [operands: number, takes: RegExp]>([
  ['chroot', [1, /^$/]],
  ['doas', [0, /^-[A-Za-z]*[Cu]$/]],
  ['env', [0, /^$/]],
  ['flock', [0, /^$/]],
  ['newgrp', [Infinity, /^$/]],
  ['nsenter', [0, /^-[A-Za-z]*[tSG]$|^--(?:target|set[ug]id)$/]],
  ['script', [Infinity, /^$/]],
  ['sg', [1, /^$/]],
  ['su', [Infinity, /^$/]],
  ['runuser', [Infinity, /^$/]],
  ['sudo', [0, /^-[A-Za-z]*[CDghpRrTtUu]$/]],
  ['unshare', [0, /^-[A-Za-z]*[SGRw]$|^--(?:set[ug]id|root|wd)$/]],
])

/** True for a shell that runs what it is fed: without a text or a file of its own, or with a text that starts another. */
function readsInput(shapes: readonly string[], at: number): boolean {
  const behind = shapes.slice(at + 1)
  const name = baseName(shapes[at] ?? '')
  const [operands, takes] = STARTERS.get(name) ?? []
  if (operands === undefined || takes === undefined) return shellReadsInput(behind)
  const texts = findProgramText([name, ...behind]).filter(([, interpreter]) => interpreter === name)
  if (texts.length > 0) return texts.some(([index]) => namesShell([name, ...behind][index] ?? ''))
  if (/^(?:env|flock)$/.test(name)) return false
  if (name === 'runuser' && behind.some((word) => /^-[A-Za-z]*u|^--user/.test(word))) return false
  if (
    /^(?:sudo|doas)$/.test(name) &&
    !behind.some((word) => /^-[A-Za-z]*[is]|^--(?:login|shell)$/.test(word))
  )
    return false
  const given = behind.filter((word, index) => !/^-|^\w+=/.test(word) && !takes.test(behind[index - 1] ?? ''))
  return given.length <= operands
}

/** For a shell by its name. A -c behind -s, -- or an operand is an operand. */
function shellReadsInput(words: readonly string[]): boolean {
  const first = operandIndex(['', ...words], 0) - 1
  const end = words.findIndex((word, index) => index === first || /^--?$/.test(word))
  const options = words.slice(0, end < 0 ? undefined : end)
  const operand = end < 0 ? undefined : words[end + Number(/^--?$/.test(words[end] ?? ''))]
  if (options.some((word) => SHELL_OPTION.test(word))) return namesShell(operand ?? '')
  return operand === undefined || [...options, operand].some((word) => STANDARD_INPUT.test(word))
}
