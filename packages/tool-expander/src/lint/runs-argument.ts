import type { CommandWord } from '../command-words.js'
import { baseName } from '../programs.js'
import { isParameter, isWholeParameter, type Placeholder } from '../template.js'
import type { LintFinding } from './finding.js'
import type { ExecSource, ShellSource, Source } from './source.js'
import { startedProgram } from './started-program.js'

// Programs that run an argument which is no program text by its place: a file's name, a target, a setting.

/** The words of a command behind the program, and whether a `--` stands before. */
interface Argument {
  word: CommandWord
  shape: string
  /** The word before it. */
  option: string
  /** How many operands stand before it. */
  operands: number
  isBehindDashes: boolean
  all: readonly string[]
}

interface Danger {
  /** Whether a value in this argument can be run. */
  runs: (argument: Argument) => boolean
  message: string
  hint: string
}

const MAKE: Danger = {
  runs: ({ shape, option }) =>
    !/^-[CfIjloW]$/.test(option) && (!shape.startsWith('-') || /^--eval/.test(shape)),
  message: 'make expands what it is told to make or to set: $(shell …) runs.',
  hint: 'Give the value an enum, or a pattern without $ and other marks: [\\w.-]+',
}
const VI: Danger = {
  runs: ({ word: { pieces }, shape, option, isBehindDashes }) =>
    /^\+/.test(shape) || /^(?:-c|--cmd|-S)$/.test(option) || (!isBehindDashes && isParameter(pieces[0])),
  message: 'The editor runs what stands behind +, -c or -S.',
  hint: 'Give a line type: integer, and write -- before a file.',
}
const DANGERS = new Map<string, Danger>([
  [
    'perl',
    {
      runs: ({ operands, all }) =>
        // The first operand is the program, behind -e or in a file.
        operands > 0 &&
        all.some((word) => /^-(?![MmI])[A-DF-Za-df-z\d]*[np]/.test(word) || /(?<!<)<>(?!>)/.test(word)),
      message: 'perl -n, -p and <> open a name that ends in | as a command.',
      hint: "Give it as input: perl -ne '…' < ${file}, in shell:. Or read it with while (<<>>).",
    },
  ],
  ['make', MAKE],
  ['gmake', MAKE],
  ['vi', VI],
  ['vim', VI],
  ['nvim', VI],
  ['ex', VI],
  ['view', VI],
  [
    'strace',
    {
      runs: ({ word: { pieces }, shape, option }) =>
        (option === '-o' && isParameter(pieces[0])) || /^(?:-o|--output=)\0/.test(shape),
      message: 'strace runs what stands behind a | or ! there.',
      hint: 'Write a directory before it: -o ./${file}',
    },
  ],
  [
    'sqlite3',
    {
      runs: ({ word, operands, option, all }) =>
        isWholeParameter(word.pieces) && (operands > 0 || /^--?cmd$/.test(option)) && !all.some(isSafe),
      message: 'sqlite3 has commands of its own: .shell runs what stands behind it.',
      hint: 'Write sqlite3 -safe.',
    },
  ],
  [
    'psql',
    {
      runs: ({ word, option }) => isWholeParameter(word.pieces) && /^(?:-[A-Za-z]*c|--command)$/.test(option),
      message: 'psql has commands of its own: \\! runs what stands behind it.',
      hint: "Write the statement, with -v name=${name} and :'name' in a file or a here-document with a quoted delimiter.",
    },
  ],
])

function isSafe(option: string): boolean {
  return /^--?safe$/.test(option)
}

/** `make ${target}` without a shell. */
export function runsExecArgument(source: ExecSource): LintFinding[] {
  return argumentsRunIn(source, source.words)
}

/** `perl -ne '…' ${file}` in a script. */
export function runsShellArgument(source: ShellSource): LintFinding[] {
  return source.commands.flatMap(({ words }) => argumentsRunIn(source, words))
}

function argumentsRunIn({ names, at }: Source, words: readonly CommandWord[]): LintFinding[] {
  const shapes = words.map(({ shape }) => shape)
  const start = startedProgram(shapes)
  const danger = DANGERS.get(baseName(shapes[start]))
  if (start < 0 || danger === undefined) return []
  const values = argumentsOf(words.slice(start + 1)).flatMap((argument): Placeholder[] => {
    const found = argument.word.pieces.filter(isParameter).find(({ name }) => names.withCode.has(name))
    return found && danger.runs(argument) ? [found] : []
  })
  return values.map(({ offset }) => at('runs-argument', offset, danger.message, danger.hint))
}

function argumentsOf(words: readonly CommandWord[]): Argument[] {
  const all = words.map(({ shape }) => shape)
  let operands = 0
  let isBehindDashes = false
  return words.map((word, index) => {
    const { shape } = word
    const argument = { word, shape, option: all[index - 1] ?? '', operands, isBehindDashes, all }
    if (shape === '--') isBehindDashes = true
    else if (isBehindDashes || !shape.startsWith('-')) operands += 1
    return argument
  })
}
