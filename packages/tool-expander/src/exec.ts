import type { Compiled, Inferred } from './inferred.js'
import { findProgramText } from './interpreters.js'
import { problemAt, type ToolProblem } from './problems.js'
import { isEngineVariable, type Part, type Placeholder, writeElement } from './template.js'
import { tokenize } from './tokenize.js'

/** Compiles an `exec:` template: words stay words, whatever the values hold. */
export function compileExec(template: string): {
  compiled?: Compiled
  problems: ToolProblem[]
  words: Part[][]
} {
  const { words, problems } = tokenize(template)
  if (problems.length > 0) return { problems, words }
  if (words.length === 0) {
    const message = 'exec: is empty.'
    return {
      problems: [
        { code: 'ERR_COMMAND_WORD', path: 'exec', message, hint: 'Write a command: ls -F ${directory}' },
      ],
      words,
    }
  }
  return { compiled: compileWords(words), problems: checkWords(words, template, 'exec'), words }
}

/** Words of an argument vector to the full form: the plain one where that says the same, else with `substitute`. */
export function compileWords(words: readonly Part[][]): Compiled {
  const inferred = inferFromWords(words)
  const fixed = words.filter((word) => !word.some(isParameter))
  const plain =
    words.slice(fixed.length).every((word) => word.length === 1 && word.every(isParameter)) &&
    inferred.length === words.length - fixed.length &&
    !words.some((word) => word.some((part) => typeof part === 'string' && part.includes('${')))

  return {
    command: plain ? fixed.map(writePlain) : words.map(writeElement),
    substitute: !plain,
    inferred,
    checkedWords: [],
  }
}

function writePlain(parts: readonly Part[]): string {
  return parts.map((part) => (typeof part === 'string' ? part : `\${${part.name}}`)).join('')
}

export function isParameter(part: Part): part is Placeholder {
  return typeof part !== 'string' && !isEngineVariable(part.name)
}

/** The parameters of argument words, in order of first appearance. */
export function inferFromWords(words: readonly Part[][]): Inferred[] {
  const found = new Map<string, Inferred>()
  const terminator = words.findIndex((word) => word.length === 1 && word[0] === '--')
  words.forEach((word, index) => {
    word.forEach((part, partIndex) => {
      if (!isParameter(part)) return
      const protectedHere =
        (terminator > 0 && index > terminator) ||
        word.slice(0, partIndex).some((before) => !isParameter(before))
      const known = found.get(part.name)
      found.set(part.name, {
        name: part.name,
        injectAs: 'argument',
        position: known?.position ?? found.size,
        raw: false,
        offset: known?.offset ?? part.offset,
        allowDash: protectedHere && (known?.allowDash ?? true),
        single: word.length > 1 || (known?.single ?? false),
      })
    })
  })
  return [...found.values()]
}

/** What no value may be: the command itself, or a part of a program. */
export function checkWords(words: readonly Part[][], template: string, path: string): ToolProblem[] {
  const problems: ToolProblem[] = []
  if (words[0]?.length === 0) {
    problems.push({
      code: 'ERR_COMMAND_WORD',
      path,
      message: 'The command is empty.',
      hint: 'Write the name of a program first.',
    })
  }
  const inCommand = words[0]?.find(isParameter)
  if (inCommand !== undefined) {
    const message = `The first word must be literal: with \${${inCommand.name}} in it, a value would choose the program.`
    const hint = 'Write the program out. For several programs, write several tools.'
    problems.push(problemAt(inCommand.offset, template, { code: 'ERR_COMMAND_WORD', path, message, hint }))
  }
  for (const { index, interpreter } of findProgramText(words.map(leadingText))) {
    const word = words[index] ?? []
    const glued = word.length > 1 ? word.find(isParameter) : undefined
    if (glued === undefined) continue
    const message = `\${${glued.name}} is part of a program that ${interpreter} runs: the value would become code.`
    const hint =
      'Hand the value over as an argument of its own, and read it there as "$1", sys.argv or process.argv.'
    problems.push(problemAt(glued.offset, template, { code: 'ERR_PROGRAM_TEXT', path, message, hint }))
  }
  return problems
}

function leadingText(word: readonly Part[]): string {
  const first = word[0]
  return typeof first === 'string' ? first : ''
}
