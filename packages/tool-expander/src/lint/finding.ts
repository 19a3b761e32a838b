import type { Excerpt } from '../problems.js'
import type { ToolOrigin } from '../tool.js'
import { countUpTo } from './count-up-to.js'

/** Which rule it breaks: to count findings by, or to leave some out. */
export type LintRule =
  | 'no-description'
  | 'command-not-found'
  | 'unknown-key'
  | 'option-name'
  | 'stdin-json'
  | 'option-like-values'
  | 'environment-name'
  | 'literal-character'
  | 'optional-moves-words'
  | 'raw'
  | 'needs-bash'
  | 'value-in-program'
  | 'value-in-format'
  | 'path-in-program'
  | 'runs-argument'
  | 'program-chosen'
  | 'runs-variable'
  | 'slow-pattern'
  | 'never-set'
  | 'foreign-placeholder'
  | 'script-variable'
  | 'positional'

/** Something a reviewer would ask about a tool that loads. `formatProblem` prints it. */
export interface LintFinding extends Excerpt {
  rule: LintRule
}

/** Makes a finding at an offset of a template. */
export type FindingAt = (rule: LintRule, offset: number, message: string, hint: string) => LintFinding

/** A finding about a tool as a whole, or about one of its keys. */
export function findingAbout(rule: LintRule, path: string, message: string, hint?: string): LintFinding {
  return { rule, path, message, ...(hint === undefined ? {} : { hint }) }
}

/** For findings in a template, whose lines are looked up once: a long one may hold thousands. */
export function findingsIn({ syntax, template }: ToolOrigin): FindingAt {
  const lineStarts = [0, ...[...template.matchAll(/\n/g)].map(({ index }) => index + 1)]
  return (rule, offset, message, hint) => {
    const line = countUpTo(lineStarts, offset)
    const column = offset - (lineStarts[line - 1] ?? 0) + 1
    return { ...findingAbout(rule, syntax, message, hint), template, line, column }
  }
}
