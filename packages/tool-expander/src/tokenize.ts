import { parse as parseShellQuote } from 'shell-quote'
import { problemAt, type ToolProblem } from './problems.js'
import { joinParts, type Part, type Placeholder, readReference } from './template.js'

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
 * Splitting itself is shell-quote's. It treats comments, globs, variables and some white space its own way,
 * so every such character, and every placeholder, is handed to it as one private-use character and put
 * back afterwards. What it sees besides are quotes, backslashes, blanks and plain text.
 */
export function tokenize(template: string, path = 'exec'): Tokens {
  const { masked, parts, problems, literals } = mask(template, path)
  if (problems.length > 0) return { words: [], problems, literals }
  const words = parseShellQuote(masked).map((word) => unmask(String(word), parts))
  return { words, problems, literals }
}

const FIRST_MASK = 0xe000
const LAST_MASK = 0xf8ff
/** Characters shell-quote takes as plain text anywhere. The rest, but quotes, backslash and blanks, is masked. */
const PLAIN = /[A-Za-z0-9_.,:=@%^+/-]/

function mask(template: string, path: string): Omit<Tokens, 'words'> & { masked: string; parts: Part[] } {
  const parts: Part[] = []
  const problems: ToolProblem[] = []
  const literals: number[] = []
  let masked = ''
  let quote = ''
  let quoteOffset = 0

  const refuse = (offset: number, code: ToolProblem['code'], message: string, hint: string) => {
    problems.push(problemAt(offset, template, { code, path, message, hint }))
  }
  const hide = (part: Part) => {
    masked += String.fromCharCode(FIRST_MASK + parts.push(part) - 1)
  }

  for (let offset = 0; offset < template.length; offset++) {
    const character = template.charAt(offset)
    const next = template.charAt(offset + 1)

    const operator = METACHARACTER.exec(template.slice(offset, offset + 2))?.[0]
    if (operator !== undefined) {
      refuse(offset, 'ERR_EXEC_METACHARACTER', metacharacterMessage(operator), METACHARACTER_HINT)
      offset += operator.length - 1
    } else if (character === '\\' && quote !== "'") {
      if (next === '$' && template.charAt(offset + 2) === '{') hide('$')
      else if (next === '')
        refuse(offset, 'ERR_QUOTE', 'Nothing follows this backslash.', 'Write \\\\ for a backslash.')
      else if (next === '\n')
        refuse(offset, 'ERR_QUOTE', 'exec: needs no backslash at the end of a line.', NEWLINE_HINT)
      else if (quote === '"' && next === '$') refuse(offset, 'ERR_QUOTE', DOUBLE_QUOTED_DOLLAR, VARIABLE_HINT)
      else if (quote === '"' && next !== '"' && next !== '\\') hide(`\\${next}`)
      else if (METACHARACTER.test(template.slice(offset + 1, offset + 3))) continue
      else hide(next)
      offset += 1
    } else if (character === '\\') {
      const run = BACKSLASHES_BEFORE_REFERENCE.exec(template.slice(offset))?.[1] ?? character
      const escapes = run.length % 2 === 1 && template.startsWith('${', offset + run.length)
      hide(escapes ? `${run.slice(1)}$` : run)
      offset += run.length - (escapes ? 0 : 1)
    } else if (character === '$' && next === '{') {
      const placeholder = readPlaceholder(template, offset, refuse)
      if (placeholder !== undefined) {
        hide(placeholder)
        offset = template.indexOf('}', offset)
      }
    } else if (character === '$' && quote !== "'" && /[A-Za-z_]/.test(next)) {
      const name = /^\w+/.exec(template.slice(offset + 1))?.[0] ?? ''
      refuse(offset, 'ERR_EXEC_VARIABLE', `Nothing expands $${name} in exec: mode.`, VARIABLE_HINT)
    } else if (character === quote) {
      quote = ''
      masked += character
    } else if (quote === '' && (character === '"' || character === "'")) {
      quote = character
      quoteOffset = offset
      masked += character
    } else if (quote === '' && /[ \t\r\n]/.test(character)) masked += ' '
    else if (PLAIN.test(character)) masked += character
    else {
      if (quote === '' && /[*?[\]~#(){}!]/.test(character)) literals.push(offset)
      hide(character)
    }
  }
  if (quote !== '') {
    refuse(
      quoteOffset,
      'ERR_QUOTE',
      `This ${quote} is never closed.`,
      `Close it, or write \\${quote} for the character.`,
    )
  }
  if (parts.length > LAST_MASK - FIRST_MASK) {
    refuse(0, 'ERR_QUOTE', 'This template has too many special characters.', 'Move the text into a file.')
  }
  return { masked, parts, problems, literals }
}

function readPlaceholder(
  template: string,
  offset: number,
  refuse: (offset: number, code: ToolProblem['code'], message: string, hint: string) => void,
): Placeholder | undefined {
  const reference = readReference(template, offset)
  if (reference === undefined) {
    refuse(offset, 'ERR_PLACEHOLDER', 'Not a placeholder: ${ must be followed by a name and }.', LITERAL_HINT)
    return undefined
  }
  const { name, modifier } = reference
  if (modifier === 'raw') {
    refuse(offset, 'ERR_RAW_IN_EXEC', ':raw modifier is only allowed in shell: mode', RAW_HINT)
  } else if (modifier !== undefined) {
    refuse(
      offset,
      'ERR_PLACEHOLDER',
      `Unknown modifier :${modifier} in \${${name}:${modifier}}.`,
      LITERAL_HINT,
    )
  }
  return { name, raw: false, offset }
}

function unmask(word: string, parts: readonly Part[]): Part[] {
  const pieces = Array.from(word.split(''), (character): Part => {
    const index = character.charCodeAt(0) - FIRST_MASK
    return parts[index] ?? character
  })
  return joinParts(pieces)
}

const BACKSLASHES_BEFORE_REFERENCE = /^(\\+)\$\{/
const METACHARACTER = /^(?:\|\|?|&&?|;|<|>|`|\$\()/

function metacharacterMessage(operator: string): string {
  const remedy = REMEDIES[operator.charAt(0)] ?? 'it'
  return `Shell metacharacter '${operator}' not allowed in exec: mode. Use shell: mode or remove ${remedy}.`
}

const REMEDIES: Record<string, string> = {
  '|': 'pipe',
  '<': 'redirection',
  '>': 'redirection',
  '&': 'background operator',
  ';': 'separator',
  '`': 'command substitution',
  $: 'command substitution',
}

const METACHARACTER_HINT =
  'Use shell: for pipes and redirects; parameters are still passed safely quoted. To pass the character itself, write command: as an array.'
const NEWLINE_HINT = 'A newline is white space in exec: already. Remove the backslash.'
const DOUBLE_QUOTED_DOLLAR =
  'A backslash before $ means different things in double quotes to different parsers.'
const VARIABLE_HINT =
  "Use shell: to expand it, ${AGENT_HOME} or ${CWD} for the engine's directories, or single quotes for the text itself."
const RAW_HINT = 'Write shell: instead of exec:, or remove :raw; in exec: every value is one argument.'
const LITERAL_HINT = 'Write \\${ for a literal ${.'
