import type { Entry } from './entry.js'
import { findingAbout, type LintFinding } from './finding.js'

/** Values that the program may take for options of its own. */
export function optionLikeValues({ parameter, path, isProtected }: Entry): LintFinding[] {
  const { name, inject_as, enum: values, allow_dash } = parameter
  if (inject_as !== 'argument' || values !== undefined || allow_dash === false || isProtected) return []
  const message = `A value of ${name} may begin with "-" and be taken for an option.`
  return [findingAbout('option-like-values', path, message, 'Write -- before it, or allow_dash: false.')]
}
