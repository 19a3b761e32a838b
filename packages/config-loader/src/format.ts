import { checkProblems } from './check-problems.js'
import type { ConfigProblem } from './errors.js'

const WIDEST_EXCERPT = 120
/** A name that says its value is secret. */
const SECRET_NAME =
  /(?:api[_-]?key|(?<![\w-])key|(?<![a-z\d])(?:token|secret|password|passwd|authorization|credentials?))["']?\s*:\s*/
/** Quoted, or up to where braces end it or a comment begins. What is in a map has names of its own. */
const SECRET = /(?!\s|\{)(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|(?:(?![,}\]](?:\s|$|[,}\]])|\s+#).)+)/
const WRITTEN_SECRET = new RegExp(`(${SECRET_NAME.source})(${SECRET.source})`, 'gi')
/** A name whose value stands below it, as a block or not. */
const BARE_SECRET = new RegExp(`${SECRET_NAME.source}[|>]?[-+\\d]*\\s*(?:#.*)?$`, 'i')
/** What only names it: `${token}`, `"$KEY"`, `Bearer $KEY`. */
const VARIABLE = /^["']?(?:\w+\s+)?\$(?:\{|[A-Z_][A-Z\d_]*(?![\w-]))/
/** Any header may hold one. */
const WRITTEN_HEADERS = /((?<![\w-])(?:(?:extra|default)_)?headers["']?\s*:\s*)(.*\S)/gi
/** A name and password in an address; `${…}` is none. */
const WRITTEN_LOGIN = /(:\/\/(?=[^/\s]*@))([^\s,}@]+)/g
/** One behind the question mark of an address. */
const WRITTEN_PARAMETER = /([?&][\w-]*(?:key|token|secret)[\w-]*=)([^\s&#"',}]+)/gi

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

/** The same with stars in place of secrets. */
export function withoutSecrets(line: string): string {
  return line
    .replace(WRITTEN_LOGIN, withStars)
    .replace(WRITTEN_PARAMETER, withStars)
    .replace(WRITTEN_SECRET, withStars)
    .replace(WRITTEN_HEADERS, withStars)
}

/**
 * The line and a caret under the column, both indented by two.
 *
 * Indentation is taken away and a long line is cut around the place. Control characters become blanks, so that
 * a file cannot move the cursor of the terminal that shows its mistakes. A secret becomes stars, for it is shown in logs.
 */
export function excerptOf(line: string, column: number): string {
  const visible = withoutSecrets(line.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ').trimEnd())
  const indentation = Math.min(visible.length - visible.trimStart().length, column - 1)
  const start = Math.max(indentation, column - WIDEST_EXCERPT / 2)
  const end = start + WIDEST_EXCERPT

  const before = start > indentation ? '…' : ''
  const after = end < visible.length ? '…' : ''
  const caret = ' '.repeat(2 + before.length) + blank(visible.slice(start, column - 1))
  return `  ${before}${visible.slice(start, end)}${after}\n${caret}^`
}

/** How far above a line its key is looked for; a line of a key for machines has 64 characters, and there may be fifty. */
const FARTHEST_KEY = 4000

/**
 * Whether a line is, or may be, the value of a secret that is named on a line above it: what is no valid YAML may be anything.
 *
 * @param before - What stands above the line.
 */
export function isBelowSecret(before: string): boolean {
  const lines = before.slice(-FARTHEST_KEY).split('\n')
  return BARE_SECRET.test(lines.findLast((line) => /^[^#]*:(?:\s|$)/.test(line)) ?? '')
}

function withStars(_: string, name: string, secret: string): string {
  return name + (VARIABLE.test(secret) ? secret : '*'.repeat(secret.length))
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
