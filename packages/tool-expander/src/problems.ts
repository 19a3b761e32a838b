import { HINTS, type ToolProblemCode } from './hints.js'

export type { ToolProblemCode } from './hints.js'

/** One thing wrong with a tool's definition, and what to write instead. */
export interface ToolProblem extends Excerpt {
  code: ToolProblemCode
}

/** A message about one place of a tool. */
export interface Excerpt {
  /** Where, seen from the tool: `exec`, `parameters[1].inject_as`. Empty for the tool as a whole. */
  path: string
  /** What is wrong, as a sentence without its place. */
  message: string
  /** The template the problem is in; `line` and `column` (1-based, UTF-16 units) point into it. */
  template?: string
  line?: number
  column?: number
  /** What to do about it. */
  hint?: string | undefined
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
export function formatProblem(problem: Excerpt, where?: string): string {
  const { message, hint } = problem
  const lines = [(where ? `${where}: ` : '') + message, ...excerpt(problem), hint]
  return lines.filter((line) => line !== undefined).join('\n')
}

/** More problems than a person reads: what is behind them is not told. */
export const ENOUGH = 100

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
  const before = template.slice(0, offset)
  const place = { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
  return { ...problemOf(code, path, message, hint), template, ...place }
}

/** Text with placeholders, and the key of the tool it stands in. */
export interface Template {
  template: string
  path: string
}

function excerpt({ path, template, line = 1, column }: Excerpt): string[] {
  if (template === undefined || column === undefined) return []
  const lines = template.replace(/\n$/, '').split('\n')
  const text = lines[line - 1] ?? ''
  const [opening, closing] = lines.length > 1 ? [`  ${path}, line ${line}: `, ''] : [`  ${path}: "`, '"']
  // White space as wide as the text on a terminal.
  const before = opening + text.slice(0, column - 1)
  const blank = before.replace(/[\u2e80-\uffff]|\p{Emoji_Presentation}/gu, '  ').replace(/[^\t]/gu, ' ')
  return [opening + text + closing, `${blank}^`]
}
