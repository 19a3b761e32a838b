import type { LintFinding } from './finding.js'
import type { ExecSource } from './source.js'

/** Characters only a shell would expand, behind everything that may hold one and does not count. */
const UNQUOTED = /\\.|"(?:\\.|[^"\\])*"|'[^']*'|\$\{\w+\}|(?<special>[*?[\]~#(){}!])/gs

/** `*` or `~` in `exec:`, where they are text. */
export function literalCharacter({ template, at }: ExecSource): LintFinding[] {
  return [...template.matchAll(UNQUOTED)]
    .filter(({ groups }) => groups?.special)
    .map(({ 0: character, index }) => {
      const message = `${character} means nothing special in exec:.`
      return at('literal-character', index, message, 'Use shell: to expand it, or quotes.')
    })
}
