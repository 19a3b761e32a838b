import { PASSES_ON } from '../command-words.js'
import { namesOf } from '../programs.js'
import type { ExpandedParameter } from '../tool.js'
import type { Entry } from './entry.js'
import { findingAbout, type LintFinding } from './finding.js'

/** Values that the program may take for options of its own, and right values that are refused because it might. */
export function optionLikeValues(entry: Entry): LintFinding[] {
  const { parameter, path, isProtected, isChecked, program, syntax } = entry
  const { name, inject_as, enum: values } = parameter
  if (inject_as !== 'argument' || values !== undefined) return []
  if (isChecked && takesText(parameter)) {
    const message = `… \${${name}}: a value that begins with "-" (a list item, a diff line) is refused at call time.`
    const hint = 'Use stdin: json, put -- before it, or set allow_dash: true.'
    return [findingAbout('option-like-values', syntax ?? path, message, hint)]
  }
  if (isChecked || isProtected) return []
  const message = `A value of ${name} may begin with "-" and be taken for an option.`
  return [findingAbout('option-like-values', path, message, adviceFor(program))]
}

const TEXT_NAMES = namesOf('old new text content message body query pattern code value')

/** Whether any text may be meant, by what its author says of it. */
function takesText({ name, type, pattern, description = '' }: ExpandedParameter): boolean {
  return (
    type === 'string' && pattern === undefined && (TEXT_NAMES.has(name) || /\btexts?\b/i.test(description))
  )
}

function adviceFor(program: string): string {
  if (program === 'find') return 'Say allow_dash: false; for find, -- protects nothing.'
  if (!PASSES_ON.has(program)) return 'Write -- before it, or allow_dash: false.'
  return `Write -- -- before it, since the first is for ${program} itself, or allow_dash: false.`
}
