import { parse as parseShellQuote } from 'shell-quote'
import { problemAt, type ToolProblem, type ToolProblemCode } from './problems.js'
import { joinParts, type Part, readReference } from './template.js'

/** An `exec:` template as argument words, each in parts; quotes are gone. */
export interface Tokens {
  words: Part[][]
  problems: ToolProblem[]
}

/**
 * Splits an `exec:` template the way Python's `shlex.split` does, and refuses what only a shell could do.
 *
 * Splitting itself is shell-quote's. It treats comments, globs, variables, backslashes and some white space its own
 * way, so everything but quotes and blanks is handed to it as a private-use character and put back afterwards, in order.
 */
export function tokenize(template: string): Tokens {
  const { masked, parts, problems } = mask(template)
  const hidden = parts.values()
  const unmask = (word: unknown) => joinParts(Array.from(String(word)).map(() => hidden.next().value ?? ''))
  return { problems, words: problems.length > 0 ? [] : parseShellQuote(masked).map(unmask) }
}

const MASK = '\ue000'

/** What stands at one place of a template, by the quote around it. `text` is what an escape stands for. */
const TOKENS = {
  '': /(?<operator>\|\|?|&&?|[;<>`]|\$\()|(?<mark>\$\{|\\(?:\n|$))|(?<variable>\$[A-Za-z_]\w*)|\\(?<text>(?!\$\()[^|&;<>`])|(?<edge>["'])|(?<blank>[ \t\r\n]+)|[\w.,:=@%^+/-]+|./sy,
  '"': /(?<operator>\|\|?|&&?|[;<>`]|\$\()|\\(?<text>["\\]|\$(?=\{))|(?<mark>\$\{|\\\$)|(?<variable>\$[A-Za-z_]\w*)|(?<edge>")|./sy,
  "'": /(?<operator>\|\|?|&&?|[;<>`]|\$\()|\\(?<text>\$(?=\{))|(?<mark>\$\{)|(?<edge>')|\\\\|./sy,
}

function mask(template: string): { masked: string; parts: Part[]; problems: ToolProblem[] } {
  const parts: Part[] = []
  const problems: ToolProblem[] = []
  let masked = ''
  let quote: keyof typeof TOKENS = ''
  let opening = 0
  const refuse = (offset: number, code: ToolProblemCode, message: string, hint: string) => {
    problems.push(problemAt(offset, template, 'exec', code, message, hint))
  }
  const hide = (part: Part) => {
    masked += MASK
    parts.push(part)
  }

  for (let offset = 0; offset < template.length; ) {
    TOKENS[quote].lastIndex = offset
    const match: RegExpExecArray | null = TOKENS[quote].exec(template)
    const whole = match?.[0] ?? ''
    const groups: Partial<Record<string, string>> = match?.groups ?? {}
    const { operator, mark, variable, text = whole, edge, blank } = groups
    const { name, modifier, length = whole.length } = (mark && readReference(template, offset)) || {}
    if (operator) refuse(offset, 'ERR_EXEC_METACHARACTER', operatorMessage(operator), OPERATOR_HINT)
    else if (variable)
      refuse(offset, 'ERR_EXEC_VARIABLE', `Nothing expands ${variable} in exec: mode.`, VARIABLE_HINT)
    else if (modifier === 'raw')
      refuse(offset, 'ERR_RAW_IN_EXEC', ':raw modifier is only allowed in shell: mode', RAW_HINT)
    else if (modifier) refuse(offset, 'ERR_PLACEHOLDER', `Unknown modifier :${modifier}.`, LITERAL_HINT)
    else if (name) hide({ name, offset })
    else if (mark === '${')
      refuse(offset, 'ERR_PLACEHOLDER', 'Not a placeholder: ${ wants a name and }.', LITERAL_HINT)
    else if (mark) refuse(offset, 'ERR_QUOTE', 'This backslash escapes nothing.', BACKSLASH_HINT)
    else if (edge) {
      quote = quote ? '' : (edge as keyof typeof TOKENS)
      opening = offset
      masked += edge
    } else if (blank) masked += ' '
    else hide(text)
    offset += length
  }
  if (quote) refuse(opening, 'ERR_QUOTE', `This ${quote} is never closed.`, `Close it, or write \\${quote}.`)
  return { masked, parts, problems }
}

function operatorMessage(operator: string): string {
  const remedy = operator === '|' ? 'pipe' : /[<>]/.test(operator) ? 'redirection' : 'it'
  return `Shell metacharacter '${operator}' not allowed in exec: mode. Use shell: mode or remove ${remedy}.`
}

const OPERATOR_HINT =
  'Use shell: for pipes and redirects; parameters are still passed safely quoted. Or write command: as an array.'
const VARIABLE_HINT =
  'Use shell: to expand it, ${AGENT_HOME} or ${CWD}, or single quotes for the text itself.'
const BACKSLASH_HINT = 'Write \\\\ for a backslash, single quotes around $, and nothing at the end of a line.'
const RAW_HINT = 'Use shell:, or remove :raw; here every value is one argument.'
const LITERAL_HINT = 'Write \\${ for a literal ${.'
