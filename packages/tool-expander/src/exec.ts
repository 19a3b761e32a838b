import { findProgramText, forLeadingValues } from './interpreters.js'
import {
  type Compiled,
  type Inferred,
  inferParameters,
  type KnownParameter,
  plainNames,
  writeCommand,
} from './parameters.js'
import { HINTS, problemAt, TO_SSH, type ToolProblem, type ToolProblemCode } from './problems.js'
import { complain, readWord, type Scan, scanTemplate, take } from './shell/scan.js'
import {
  isParameter,
  isWholeParameter,
  type Opening,
  openings,
  type Part,
  parseElement,
  piecesOf,
  type Word,
  wordOf,
} from './template.js'
import type { Injection, ParameterDefinition, ToolDefinition } from './tool.js'

/**
 * Compiles an `exec:` template: split into words as Python's `shlex.split` does, whatever the values hold.
 *
 * @param stdin - The parameter that `stdin:` names. Its places in the template stay empty, and a word of it alone is dropped.
 */
export function compileExec(
  template: string,
  parameters?: readonly KnownParameter[],
  stdin?: string,
): Compiled & { words: Word[] } {
  const plain = plainNames(parameters)
  const words: Word[] = []
  const { scan, problems } = scanTemplate(
    { path: 'exec', template, plain, readCommands: undefined },
    (scan) => {
      refuseShell(scan)
      for (take(scan, BLANKS); scan.at < scan.end; take(scan, BLANKS)) words.push(readWord(scan))
    },
  )
  if (words.length === 0) words.push(wordOf(scan, 0))
  if (problems.length === 0) problems.push(...checkWords(words, plain))
  const kept = words.flatMap((word) => withoutValue(word, stdin))
  const pieces = kept.map((word) => word.pieces as Part[]) // only a script has pieces that are unknown
  return { ...writeCommand(pieces, inferFromWords(kept)), problems, words: kept }
}

function withoutValue(word: Word, name: string | undefined): Word[] {
  const pieces = word.pieces.filter((piece) => !isParameter(piece) || piece.name !== name)
  if (pieces.length === word.pieces.length) return [word]
  return isWholeParameter(word.pieces) ? [] : [wordOf(word, word.offset, pieces)]
}

const BLANKS = /[ \t\r\n]+/y
const OPERATOR = /\|\|?|&&?|[;`]|<<?|>>?|\$\(/g

/** Refuses what only a shell could do, in quotes too, and what looks like a placeholder and is not one. */
function refuseShell(scan: Scan): void {
  for (const { 0: operator, index } of scan.template.matchAll(OPERATOR)) {
    const name = operator === '|' ? 'pipe' : 'it'
    const message = `Shell metacharacter '${operator}' not allowed in exec: mode. Use shell: mode or remove ${name}.`
    complain(scan, index, 'ERR_EXEC_METACHARACTER', message, underShell(scan.template))
  }
  for (const opening of openings(scan.template)) {
    const { offset, backslashes, name, modifier } = opening
    if (backslashes % 2 === 0 && (!name || modifier === 'raw')) complain(scan, offset, ...faultOf(opening))
  }
}

/** The same line for `shell:`, ready to paste; a script of several lines is not quoted like that. */
function underShell(template: string): string | undefined {
  const hint = HINTS.ERR_EXEC_METACHARACTER
  return template.includes('\n') ? hint : `${hint}\n  shell: '${template.replaceAll("'", "''")}'`
}

/** What is wrong with a `${` that begins no placeholder, or one only a shell could fill. */
function faultOf({ modifier }: Opening): [code: ToolProblemCode, message: string] {
  return modifier === 'raw'
    ? ['ERR_RAW_IN_EXEC', ':raw modifier is only allowed in shell: mode']
    : ['ERR_PLACEHOLDER', 'This is not a placeholder.']
}

/** The parameters of argument words. */
function inferFromWords(words: readonly Word[]): Inferred[] {
  forLeadingValues(words, (value) => {
    value.checked = 'value'
  })
  for (const { pieces } of words) if (isWholeParameter(pieces)) pieces[0].alone = true
  return inferParameters(words.flatMap(({ pieces }) => pieces))
}

/** What no value may be: the command itself, or a part of a program. */
function checkWords(words: readonly Word[], plain: ReadonlySet<string>): ToolProblem[] {
  const problems: ToolProblem[] = []
  const refuse = (word: Word, code: ToolProblemCode, message: string, hint?: string) => {
    problems.push(problemAt(word, word.pieces.find(isParameter)?.offset ?? 0, code, message, hint))
  }
  const first = words[0]
  if (first?.pieces.length === 0) refuse(first, 'ERR_COMMAND_WORD', 'The command is empty.')
  if (first?.pieces.some(isParameter)) refuse(first, 'ERR_COMMAND_WORD', 'The first word must be literal.')
  for (const [index, interpreter, isJoined] of findProgramText(words.map(({ shape }) => shape))) {
    const word = words[index]
    const isCode = word?.pieces.some((piece) => isParameter(piece) && !plain.has(piece.name))
    if (word && isCode && (isJoined || !isWholeParameter(word.pieces)))
      refuse(
        word,
        'ERR_PROGRAM_TEXT',
        `In a program that ${interpreter} runs the value would become code.`,
        interpreter === 'ssh' ? TO_SSH : undefined,
      )
  }
  return problems
}

/**
 * Compiles a hand-written `command:`. What its parameters say about injection is taken as the template's word.
 *
 * @param elsewhere - What becomes of a parameter that says nothing and stands in no place.
 */
export function compileCommand(definition: ToolDefinition, elsewhere: Injection = 'argument'): Compiled {
  const { command = [], parameters = [], substitute = false, checked_words: checkedWords } = definition
  const problems: ToolProblem[] = []
  const words = command.map((template, index) => {
    const place = { template, path: `command[${index}]` }
    const refuse = (opening: Opening) => {
      problems.push(problemAt(place, opening.offset, ...faultOf(opening)))
    }
    return wordOf(place, 0, substitute ? parseElement(template, refuse) : piecesOf(template))
  })
  if (definition.command) problems.push(...checkWords(words, plainNames(parameters)))
  const placed = inferFromWords(words).map((known) =>
    checkedWords?.some((word) => word.includes(`\${${known.name}}`))
      ? { ...known, allow_dash: undefined }
      : known,
  )
  const isPlaced = (name: string) => placed.some((known) => known.name === name)
  const others = parameters
    .map((entry) => asWritten(entry, isPlaced(entry.name) ? 'argument' : elsewhere))
    .filter(({ inject_as }) => !substitute || inject_as !== 'argument')
  return {
    command: command as string[], // a copy of the author's
    substitute,
    inferred: [...placed, ...others],
    checkedWords: checkedWords as string[] | undefined,
    problems,
    words,
  }
}

/** A parameter as its entry says, with nothing inferred. */
export function asWritten(
  { name, inject_as, position }: ParameterDefinition,
  inferred: Injection = 'argument',
): Inferred {
  return { name, inject_as: inject_as ?? inferred, position }
}
