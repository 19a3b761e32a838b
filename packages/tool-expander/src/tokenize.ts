import { parse as parseShellQuote } from 'shell-quote'
import { problemAt, type ToolProblem, type ToolProblemCode } from './problems.js'
import { joinParts, type Part, readReference } from './template.js'

/** An `exec:` template as argument words, each in parts; quotes are gone. */
export interface Tokens {
  words: Part[][]
  problems: ToolProblem[]
  /** Offsets of unquoted characters that only a shell would expand. */
  literals: number[]
}

/**
 * Splits an `exec:` template the way Python's `shlex.split` does, and refuses what only a shell could do.
 *
 * Splitting itself is shell-quote's. It treats comments, globs, variables, backslashes and some white space its own
 * way, so every such character, and every placeholder, is handed to it as one private-use character and put back
 * afterwards. What it sees besides are quotes, blanks and plain text.
 */
export function tokenize(template: string): Tokens {
  const { masked, parts, problems, literals } = mask(template)
  if (problems.length > 0) return { words: [], problems, literals }
  const words = parseShellQuote(masked).map((word) => unmask(String(word), parts))
  return { words, problems, literals }
}

const FIRST_MASK = 0xe000
const LAST_MASK = 0xf8ff

/**
 * What stands at one place of a template, by the quote around it. `text` is what an escape stands for,
 * `plain` what shell-quote takes as it is; everything without a name is hidden from it.
 */
const TOKENS = {
  '': /(?<operator>\|\|?|&&?|[;<>`]|\$\()|(?<mark>\$\{|\\(?:\n|$))|(?<variable>\$[A-Za-z_]\w*)|\\(?<text>(?!\$\()[^|&;<>`])|(?<edge>["'])|(?<blank>[ \t\r\n]+)|(?<plain>[\w.,:=@%^+/-]+)|(?<special>[*?[\]~#(){}!])|./sy,
  '"': /(?<operator>\|\|?|&&?|[;<>`]|\$\()|\\(?<text>["\\]|\$(?=\{))|(?<mark>\$\{|\\\$)|(?<variable>\$[A-Za-z_]\w*)|(?<edge>")|./sy,
  "'": /(?<operator>\|\|?|&&?|[;<>`]|\$\()|\\(?<text>\$(?=\{))|(?<mark>\$\{)|(?<edge>')|\\\\|./sy,
}

function mask(template: string): Omit<Tokens, 'words'> & { masked: string; parts: Part[] } {
  const parts: Part[] = []
  const problems: ToolProblem[] = []
  const literals: number[] = []
  let masked = ''
  let quote = ''
  let opening = 0
  const refuse = (offset: number, code: ToolProblemCode, message: string, hint: string) => {
    problems.push(problemAt(offset, template, { code, path: 'exec', message, hint }))
  }
  const hide = (part: Part) => {
    masked += String.fromCharCode(FIRST_MASK + parts.push(part) - 1)
  }

  for (let offset = 0; offset < template.length; ) {
    const pattern = TOKENS[quote as keyof typeof TOKENS]
    pattern.lastIndex = offset
    const match = pattern.exec(template)
    const { operator, mark, variable, text, edge, blank, plain, special } = match?.groups ?? {}
    const reference = mark === undefined ? undefined : readReference(template, offset)
    if (operator !== undefined) refuse(offset, 'ERR_EXEC_METACHARACTER', ...operatorProblem(operator))
    else if (variable !== undefined) {
      refuse(offset, 'ERR_EXEC_VARIABLE', `Nothing expands ${variable} in exec: mode.`, VARIABLE_HINT)
    } else if (reference?.modifier === 'raw') {
      refuse(offset, 'ERR_RAW_IN_EXEC', ':raw modifier is only allowed in shell: mode', RAW_HINT)
    } else if (reference?.modifier !== undefined) {
      refuse(offset, 'ERR_PLACEHOLDER', `Unknown modifier :${reference.modifier}.`, LITERAL_HINT)
    } else if (reference !== undefined) hide({ name: reference.name, raw: false, offset })
    else if (mark === '${')
      refuse(offset, 'ERR_PLACEHOLDER', 'Not a placeholder: ${ wants a name and }.', LITERAL_HINT)
    else if (mark !== undefined)
      refuse(offset, 'ERR_QUOTE', 'This backslash escapes nothing.', BACKSLASH_HINT)
    else if (edge !== undefined) {
      quote = quote === '' ? edge : ''
      opening = offset
      masked += edge
    } else if (blank !== undefined || plain !== undefined) masked += plain ?? ' '
    else hide(text ?? match?.[0] ?? '')

    if (special !== undefined) literals.push(offset)
    offset += reference?.length ?? match?.[0].length ?? 1
  }
  if (quote !== '')
    refuse(opening, 'ERR_QUOTE', `This ${quote} is never closed.`, `Close it, or write \\${quote}.`)
  if (parts.length > LAST_MASK - FIRST_MASK) {
    refuse(0, 'ERR_QUOTE', 'The template is too long.', 'Move its text into a file.')
  }
  return { masked, parts, problems, literals }
}

function unmask(word: string, parts: readonly Part[]): Part[] {
  return joinParts(
    word.split(/([\ue000-\uf8ff])/).map((piece) => parts[piece.charCodeAt(0) - FIRST_MASK] ?? piece),
  )
}

function operatorProblem(operator: string): [message: string, hint: string] {
  const remedy = operator === '|' ? 'pipe' : /[<>]/.test(operator) ? 'redirection' : 'it'
  return [
    `Shell metacharacter '${operator}' not allowed in exec: mode. Use shell: mode or remove ${remedy}.`,
    'Use shell: for pipes and redirects; parameters are still passed safely quoted. Or write command: as an array.',
  ]
}

const VARIABLE_HINT =
  'Use shell: to expand it, ${AGENT_HOME} or ${CWD}, or single quotes for the text itself.'
const BACKSLASH_HINT = 'Write \\\\ for a backslash, single quotes around $, and nothing at the end of a line.'
const RAW_HINT = 'Use shell:, or remove :raw; here every value is one argument.'
const LITERAL_HINT = 'Write \\${ for a literal ${.'
