/** One thing wrong with a tool's definition, and what to write instead. */
export interface ToolProblem extends Problem {
  code: ToolProblemCode
}

/** Something wrong in what a person wrote, and where in it: every package that reads a part of an agent says it so. */
export interface Problem {
  /** Where, seen from the tool, or from what else was read: `exec`, `parameters[1].inject_as`. Empty for the whole. */
  path: string
  /** What is wrong, as a sentence without its place. */
  message: string
  /** The template the problem is in; `line` and `column` (1-based, UTF-16 units) point into it. */
  template?: string
  line?: number
  column?: number
  /** What to do about it. */
  hint?: string | undefined
  /** The path is that of a key that nothing reads; the rest is usable without it. */
  unknownKey?: true
  /** The known key that an unknown one is probably a misspelling of. */
  nearest?: string
}

/** What can be wrong with a tool's definition. Branch on these; the messages are for people. */
export type ToolProblemCode =
  | 'ERR_TOOL_SHAPE'
  | 'ERR_TOOL_NAME'
  | 'ERR_TOOL_MODE'
  | 'ERR_PARAMETER'
  | 'ERR_PARAMETER_UNKNOWN'
  | 'ERR_PARAMETER_OVERRIDE'
  | 'ERR_PARAMETER_OPTIONAL'
  | 'ERR_STDIN'
  | 'ERR_PLACEHOLDER'
  | 'ERR_QUOTE'
  | 'ERR_RAW_IN_EXEC'
  | 'ERR_EXEC_METACHARACTER'
  | 'ERR_EXEC_VARIABLE'
  | 'ERR_COMMAND_WORD'
  | 'ERR_PROGRAM_TEXT'
  | 'ERR_SHELL_CODE'
  | 'ERR_SHELL_POSITIONAL'
  | 'ERR_SHELL_SYNTAX'
  | 'ERR_EXPANDER_USAGE'

const AS_ARGUMENT = `Hand it over as an argument: sh -c '… "$1"' _ \${value}`

/** For the words of `ssh` in exec:, which have no arguments on the other side. */
export const TO_SSH = 'Give it an enum of letters and digits. Or as stdin: ssh host xargs -0 cat --'

/** What to write instead, where the place itself does not say something better. */
export const HINTS: Partial<Record<ToolProblemCode, string>> = {
  ERR_TOOL_NAME: 'Write name: list_files.',
  ERR_PARAMETER_UNKNOWN: 'Write ${name} in it, stdin: name, or use command: with inject_as: option.',
  ERR_PARAMETER_OVERRIDE: 'Remove it, or for an input write stdin: name.',
  ERR_PARAMETER_OPTIONAL:
    'Give it a default, write --option=${name}, or use command: with inject_as: option.',
  ERR_STDIN: 'Keep one of them.',
  ERR_PLACEHOLDER:
    'Write ${name} (letters, digits, _) for a value, its default under parameters:, \\${ for a literal ${.',
  ERR_QUOTE: 'Close it, or write \\ before it.',
  ERR_RAW_IN_EXEC: 'Use shell:, or remove :raw.',
  ERR_EXEC_METACHARACTER:
    'In shell: parameters are passed safely quoted, too. Or write command: as an array.',
  ERR_EXEC_VARIABLE: 'Use shell:, or single quotes.',
  ERR_COMMAND_WORD: 'Begin with a program, not a value.',
  ERR_PROGRAM_TEXT: `${AS_ARGUMENT}, watch -x ls \${value}, python3 -c '… sys.argv[1]' \${value}. Or as stdin:.`,
  ERR_SHELL_CODE: `${AS_ARGUMENT}. To trap, watch, git: export x=\${value}; watch 'ls "$x"'. To ssh: as stdin:.`,
  ERR_SHELL_POSITIONAL:
    'Assign it to another name: x=${value}; … ${x%.txt}. Or hand it over: f() { … "$1"; }; f ${value}',
  ERR_SHELL_SYNTAX: 'Write it another way, or move it into a file.',
}

/** A tool that cannot be expanded. `problems` holds everything found, in the order of the definition. */
export class ToolExpansionError extends Error {
  override readonly name = 'ToolExpansionError'
  readonly problems: readonly ToolProblem[]
  /** The code of the first problem. */
  readonly code: ToolProblemCode

  constructor(problems: readonly ToolProblem[], where?: string) {
    super(problems.map((problem) => formatProblem(problem, where)).join('\n\n'))
    this.problems = problems
    this.code = problems[0]?.code ?? 'ERR_TOOL_SHAPE'
  }
}

/** True for a `ToolExpansionError` of any installed copy of this package. */
export function isToolExpansionError(error: unknown): error is ToolExpansionError {
  return error instanceof Error && error.name === 'ToolExpansionError'
}

/**
 * A problem as text for a terminal: the message, the line of the template with a caret, the hint.
 *
 * @param where - Put in front of the message: `agent.yaml:14:18: tools[2] "count_lines"`.
 */
export function formatProblem(problem: Problem, where?: string): string {
  const { message, hint } = problem
  const lines = [(where ? `${where}: ` : '') + message, ...excerpt(problem), hint]
  return lines.filter((line) => line !== undefined).join('\n')
}

/** More problems than a person reads: those behind them are left out. */
export const MAX_PROBLEMS = 100

/** A problem of a tool as a whole, or of one of its keys. */
export function problemOf(
  code: ToolProblemCode,
  path: string,
  message: string,
  hint = HINTS[code],
): ToolProblem {
  return { code, path, message, hint }
}

/** A problem at an offset of a template. */
export function problemAt(
  { template, path }: Template,
  offset: number,
  code: ToolProblemCode,
  message: string,
  hint?: string,
): ToolProblem {
  return { ...problemOf(code, path, message, hint), template, ...placeOf(template, offset) }
}

/** The line and the column of an offset, both from 1. */
export function placeOf(template: string, offset: number): { line: number; column: number } {
  const before = template.slice(0, offset)
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
}

/** Text with placeholders, and the key of the tool it stands in. */
export interface Template {
  template: string
  path: string
}

function excerpt({ path, template, line = 1, column }: Problem): string[] {
  if (template === undefined || column === undefined) return []
  const lines = template.replace(/\n$/, '').split('\n')
  const text = lines[line - 1] ?? ''
  const [opening, closing] = lines.length > 1 ? [`  ${path}, line ${line}: `, ''] : [`  ${path}: "`, '"']
  // White space as wide as the text on a terminal.
  const before = opening + text.slice(0, column - 1)
  const blank = before.replace(/[\u2e80-\uffff]|\p{Emoji_Presentation}/gu, '  ').replace(/[^\t]/gu, ' ')
  return [opening + text + closing, `${blank}^`]
}
