import type { Compiled, Inferred } from './inferred.js'
import { findProgramText } from './interpreters.js'
import { problemAt, type ToolProblem, type ToolProblemCode } from './problems.js'
import { beginningOf, isParameter, isWholeParameter, type Part, writeElement } from './template.js'
import { tokenize } from './tokenize.js'

/** Argument words in parts, and where each was written. */
export interface Word {
  parts: Part[]
  template: string
  path: string
}

/** Compiles an `exec:` template: words stay words, whatever the values hold. */
export function compileExec(template: string): Compiled & { words: Word[] } {
  const tokens = tokenize(template)
  const words = tokens.words.map((parts) => ({ parts, template, path: 'exec' }))
  const problems = tokens.problems.length > 0 ? tokens.problems : checkWords(words)
  const inferred = inferFromWords(words)
  const fixed = tokens.words.filter((parts) => !parts.some(isParameter))
  const values = tokens.words.slice(fixed.length)
  // The plain full form where that says the same.
  const plain =
    values.every(isWholeParameter) &&
    values.length === inferred.length &&
    !fixed.flat().some((part) => typeof part === 'string' && part.includes('${'))
  const command = plain
    ? fixed.map((parts) => parts.map(writePlain).join(''))
    : tokens.words.map(writeElement)
  return { command, substitute: !plain, inferred, checkedWords: [], problems, words }
}

function writePlain(part: Part): string {
  return typeof part === 'string' ? part : `\${${part.name}}`
}

/** The parameters of argument words, in order of first appearance. */
export function inferFromWords(words: readonly Word[]): Inferred[] {
  const found = new Map<string, Inferred>()
  const terminator = words.findIndex(({ parts }) => parts.length === 1 && parts[0] === '--')
  words.forEach(({ parts }, index) => {
    for (const part of parts.filter(isParameter)) {
      const { name } = part
      const known = found.get(name)
      const isSafe =
        (terminator > 0 && index > terminator) || !parts.slice(0, parts.indexOf(part)).every(isParameter)
      found.set(name, {
        name,
        injectAs: 'argument',
        position: known?.position ?? found.size,
        allowDash: isSafe && known?.allowDash !== false,
        single: parts.length > 1 || known?.single === true,
      })
    }
  })
  return [...found.values()]
}

/** What no value may be: the command itself, or a part of a program. */
export function checkWords(words: readonly Word[]): ToolProblem[] {
  const problems: ToolProblem[] = []
  const refuse = ({ parts, template, path }: Word, code: ToolProblemCode, message: string, hint: string) => {
    const offset = parts.find(isParameter)?.offset ?? 0
    problems.push(problemAt(offset, template, path, code, message, hint))
  }
  const { 0: first = { parts: [], template: '', path: 'exec' } } = words
  if (first.parts.length === 0) {
    refuse(first, 'ERR_COMMAND_WORD', 'The command is empty.', 'Begin with a program: ls -F ${directory}')
  } else if (first.parts.some(isParameter)) {
    const message = 'The first word must be literal: a value would choose the program.'
    refuse(first, 'ERR_COMMAND_WORD', message, 'Write a tool for each program.')
  }
  for (const [index, interpreter] of findProgramText(words.map(({ parts }) => beginningOf(parts)))) {
    const word = words[index]
    if (!word?.parts.some(isParameter) || isWholeParameter(word.parts)) continue
    const message = `A value here is part of a program that ${interpreter} runs: it would become code.`
    const hint = 'Make it an argument of its own; programs find it in "$1" or sys.argv.'
    refuse(word, 'ERR_PROGRAM_TEXT', message, hint)
  }
  return problems
}
