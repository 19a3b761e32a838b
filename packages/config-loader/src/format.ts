import { checkProblems } from './check-problems.js'
import type { ConfigProblem } from './errors.js'

const WIDEST_EXCERPT = 120
/** A key where it must not stand, or a name and password in an address; `${…}` is none. */
const WRITTEN_KEY = /(api[_-]?key["']?\s*:\s*|:\/\/(?=[^/\s]*@))(?!["']?\$)("[^"]*"|'[^']*'|[^\s,}@]+)/gi

/**
 * One problem as text: `file:line:column: message`, the line with a caret, and what to do.
 *
 * Parts that are not known are left out; the result has no newline at its end, and no control characters but newlines,
 * though a message may quote what a file holds.
 */
export function formatProblem(problem: ConfigProblem): string {
  checkProblems('formatProblem: the problem', [problem])
  const lines = [`${formatPlace(problem)}${showControls(problem.message)}`]
  if (problem.excerpt !== undefined) lines.push(problem.excerpt)
  if (problem.hint) lines.push(showControls(problem.hint))
  return lines.join('\n')
}

/**
 * All problems, a blank line between them, and how many there are if there are several; then the warnings, for a
 * mistyped name is often the cause of what is missing elsewhere.
 */
export function formatReport(
  problems: readonly ConfigProblem[],
  warnings: readonly ConfigProblem[] = [],
): string {
  checkProblems('formatReport: the list of problems', problems)
  checkProblems('formatReport: the list of warnings', warnings)
  const blocks = problems.map(formatProblem)
  if (problems.length > 1) blocks.push(`${problems.length} problems.`)
  if (warnings.length > 0) blocks.push('Besides:', ...warnings.map(formatProblem))
  return blocks.join('\n\n')
}

/**
 * The line and a caret under the column, both indented by two.
 *
 * Indentation is taken away and a long line is cut around the place. Control characters become blanks, so that
 * a file cannot move the cursor of the terminal that shows its mistakes. An API key becomes stars, for it is shown in logs.
 */
export function excerptOf(line: string, column: number): string {
  const visible = line
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ')
    .replace(WRITTEN_KEY, (_, name, key) => name + '*'.repeat(key.length))
    .trimEnd()
  const indentation = Math.min(visible.length - visible.trimStart().length, column - 1)
  const start = Math.max(indentation, column - WIDEST_EXCERPT / 2)
  const end = start + WIDEST_EXCERPT

  const before = start > indentation ? '…' : ''
  const after = end < visible.length ? '…' : ''
  const caret = ' '.repeat(2 + before.length) + blank(visible.slice(start, column - 1))
  return `  ${before}${visible.slice(start, end)}${after}\n${caret}^`
}

function showControls(text: string): string {
  return text.replace(
    /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** White space as wide as the text on a terminal. */
function blank(text: string): string {
  const wide =
    /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/gu
  return text.replace(wide, '  ').replace(/./gsu, ' ')
}

function formatPlace({ file, line, column }: ConfigProblem): string {
  if (file === '') return ''
  if (line === undefined) return `${file}: `
  return column === undefined ? `${file}:${line}: ` : `${file}:${line}:${column}: `
}
