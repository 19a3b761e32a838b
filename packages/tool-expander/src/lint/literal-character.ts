import { baseName } from '../programs.js'
import { beginningOf } from '../template.js'
import type { LintFinding } from './finding.js'
import type { ExecSource } from './source.js'

/** A word of `exec:`; what is quoted or a placeholder in it is left out of `bare` by blanks as long. */
interface WrittenWord {
  bare: string
  offset: number
}

const WORD = /(?:\\.|"(?:\\.|[^"\\])*"|'[^']*'|\$\{\w+\}|[^\s])+/gs
const NOT_BARE = /\\.|"(?:\\.|[^"\\])*"|'[^']*'|\$\{\w+\}/gs
/** What only a shell expands: names of files, homes, `{a,b}`, comments. */
const EXPANDED = /[*?]|\[[^\]]+\]|^~|\{[^{}]*(?:,|\.\.)[^{}]*\}|^#|^[()]/
/** Options whose word is a pattern for the program itself, and those with it attached. */
const TAKES_PATTERN =
  /^(?:-i?(?:name|path|lname|wholename|regex)|-g|--i?glob|--(?:include|exclude)(?:-dir|-glob)?|-path-?spec)$/
const HAS_PATTERN = /^--?[\w-]+=|\{\{|\{\.|:\/\//
/** Programs whose first operand is a pattern or a program. */
const FIRST_IS_PATTERN = /^(?:[efz]?grep|rg|ag|ack|g?sed|[gmn]?awk|jq|yq|expr)$/

/** `*` or `~` in `exec:`, where they are text. Named once: who wrote one expected a shell. */
export function literalCharacter({ template, words, at }: ExecSource): LintFinding[] {
  const program = baseName(beginningOf(words[0]?.pieces))
  const written = [...template.matchAll(WORD)].map(
    ({ 0: text, index: offset }): WrittenWord => ({
      bare: text.replace(NOT_BARE, (quoted) => '\0'.repeat(quoted.length)),
      offset,
    }),
  )
  for (const { bare, offset } of withoutPatterns(program, written)) {
    const special = EXPANDED.exec(bare)
    if (special === null) continue
    const message = `${special[0]} means nothing special in exec:.`
    return [at('literal-character', offset + special.index, message, 'Use shell: to expand it, or quotes.')]
  }
  return []
}

/** The words that are no pattern for the program itself. */
function withoutPatterns(program: string, words: readonly WrittenWord[]): WrittenWord[] {
  const isFind = program === 'find'
  const firstOperand = FIRST_IS_PATTERN.test(program)
    ? words.findIndex(({ bare }, index) => index > 0 && !bare.startsWith('-'))
    : -1
  return words.filter(
    ({ bare }, index) =>
      index !== firstOperand &&
      !HAS_PATTERN.test(bare) &&
      !TAKES_PATTERN.test(words[index - 1]?.bare ?? '') &&
      !(isFind && /^[()]$/.test(bare)),
  )
}
