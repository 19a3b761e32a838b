import { type CommandWord, forLeadingValues, shapeOf } from './command-words.js'
import { type Compiled, type Inferred, inferParameters } from './inferred.js'
import { findProgramText } from './interpreters.js'
import { problemAt, type ToolProblem, type ToolProblemCode } from './problems.js'
import { isParameter, isWholeParameter, type Part, writeElement, writePart } from './template.js'
import { tokenize } from './tokenize.js'

/** A word of an argument vector, and where it was written. */
export interface ArgumentWord extends CommandWord {
  pieces: Part[]
  template: string
  path: string
}

/** Compiles an `exec:` template: words stay words, whatever the values hold. */
export function compileExec(template: string): Compiled & { words: ArgumentWord[] } {
  const { words: tokens, problems } = tokenize(template)
  const words = tokens.map((pieces) => ({ pieces, template, path: 'exec' }))
  const inferred = inferFromWords(words)
  const fixed = tokens.filter((pieces) => !pieces.some(isParameter))
  const values = tokens.slice(fixed.length)
  // The plain full form where that says the same.
  const plain =
    values.every(isWholeParameter) &&
    values.length === inferred.length &&
    !fixed.flat().some((part) => typeof part === 'string' && part.includes('${'))
  const command = plain ? fixed.map((pieces) => pieces.map(writePart).join('')) : tokens.map(writeElement)
  if (problems.length === 0) problems.push(...checkWords(words))
  return { command, substitute: !plain, inferred, checkedWords: [], problems, words }
}

/** The parameters of argument words. */
export function inferFromWords(words: readonly ArgumentWord[]): Inferred[] {
  forLeadingValues(words, (value) => {
    value.checked = 'value'
  })
  return inferParameters(
    words.flatMap(({ pieces }) => {
      const alone = pieces.length === 1
      return pieces.filter(isParameter).map((place) => ({ ...place, alone }))
    }),
  )
}

/** What no value may be: the command itself, or a part of a program. */
export function checkWords(words: readonly ArgumentWord[]): ToolProblem[] {
  const problems: ToolProblem[] = []
  const refuse = (word: ArgumentWord, code: ToolProblemCode, message: string, hint: string) => {
    const offset = word.pieces.find(isParameter)?.offset ?? 0
    problems.push(problemAt(offset, word.template, word.path, code, message, hint))
  }
  const { 0: first = { pieces: [], template: '', path: 'exec' } } = words
  if (first.pieces.length === 0)
    refuse(first, 'ERR_COMMAND_WORD', 'The command is empty.', 'Begin with a program: ls -F ${directory}')
  if (first.pieces.some(isParameter)) refuse(first, 'ERR_COMMAND_WORD', ...PROGRAM_CHOSEN)
  for (const [index, interpreter] of findProgramText(words.map(shapeOf))) {
    const word = words[index]
    if (!word?.pieces.some(isParameter) || isWholeParameter(word.pieces)) continue
    const message = `A value here is part of a program that ${interpreter} runs: it would become code.`
    const hint = 'Make it an argument of its own; programs find it in "$1" or sys.argv.'
    refuse(word, 'ERR_PROGRAM_TEXT', message, hint)
  }
  return problems
}

/** The same in a script. */
export const PROGRAM_CHOSEN = [
  'The first word must be literal: a value would choose the program.',
  'Write a tool for each program.',
] as const
