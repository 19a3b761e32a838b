import { forLeadingValues, shapeOf } from './command-words.js'
import { type ArgumentWord, type Compiled, type Inferred, inferParameters, writeCommand } from './inferred.js'
import { findProgramText } from './interpreters.js'
import { problemAt, type ToolProblem, type ToolProblemCode } from './problems.js'
import { complain, type Scan, startScan, take, whileReading } from './shell/scan.js'
import { readWord } from './shell/words.js'
import { isParameter, isWholeParameter, joinParts, openings } from './template.js'

/** Compiles an `exec:` template: split into words as Python's `shlex.split` does, whatever the values hold. */
export function compileExec(template: string): Compiled & { words: ArgumentWord[] } {
  const scan = startScan(template, 'exec')
  refuseShell(scan)
  const words: ArgumentWord[] = []
  whileReading(scan, () => {
    for (take(scan, BLANKS); scan.at < scan.end; take(scan, BLANKS)) {
      const pieces = joinParts(readWord(scan).pieces.filter((piece) => piece !== null))
      words.push({ pieces, template, path: 'exec' })
    }
  })
  const { problems } = scan
  const inferred = inferFromWords(words)
  if (problems.length === 0) problems.push(...checkWords(words))
  return { ...writeCommand(words.map(({ pieces }) => pieces)), inferred, checkedWords: [], problems, words }
}

const BLANKS = /[ \t\r\n]+/y

/** Refuses what only a shell could do, in quotes too, and what looks like a placeholder and is none. */
function refuseShell(scan: Scan): void {
  for (const { 0: operator, index } of scan.template.matchAll(/\|\|?|&&?|[;<>`]|\$\(/g)) {
    const remedy = operator === '|' ? 'pipe' : /[<>]/.test(operator) ? 'redirection' : 'it'
    const message = `Shell metacharacter '${operator}' not allowed in exec: mode. Use shell: mode or remove ${remedy}.`
    complain(scan, index, 'ERR_EXEC_METACHARACTER', message)
  }
  for (const { offset, backslashes, reference } of openings(scan.template)) {
    if (backslashes % 2 === 1) continue
    if (!reference) complain(scan, offset, 'ERR_PLACEHOLDER', 'Not a placeholder: ${ wants a name and }.')
    else if (reference.modifier === 'raw')
      complain(scan, offset, 'ERR_RAW_IN_EXEC', ':raw modifier is only allowed in shell: mode')
  }
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
  const refuse = (word: ArgumentWord, code: ToolProblemCode, message: string) => {
    problems.push(problemAt(word.pieces.find(isParameter)?.offset ?? 0, word, code, message))
  }
  const { 0: first = { pieces: [], template: '', path: 'exec' } } = words
  if (first.pieces.length === 0) refuse(first, 'ERR_COMMAND_WORD', 'The command is empty.')
  if (first.pieces.some(isParameter))
    refuse(first, 'ERR_COMMAND_WORD', 'The first word must be literal: a value would choose the program.')
  for (const [index, interpreter] of findProgramText(words.map(shapeOf))) {
    const word = words[index]
    if (!word?.pieces.some(isParameter) || isWholeParameter(word.pieces)) continue
    const message = `A value here is part of a program that ${interpreter} runs: it would become code.`
    refuse(word, 'ERR_PROGRAM_TEXT', message)
  }
  return problems
}
