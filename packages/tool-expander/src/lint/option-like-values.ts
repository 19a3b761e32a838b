import { PASSES_ON } from '../command-words.js'
import type { Entry } from './entry.js'
import { findingAbout, type LintFinding } from './finding.js'

/** Values that the program may take for options of its own. */
export function optionLikeValues({ parameter, path, isProtected, program }: Entry): LintFinding[] {
  const { name, inject_as, enum: values, allow_dash } = parameter
  if (inject_as !== 'argument' || values !== undefined || allow_dash === false || isProtected) return []
  const message = `A value of ${name} may begin with "-" and be taken for an option.`
  return [findingAbout('option-like-values', path, message, adviceFor(program))]
}

function adviceFor(program: string): string {
  if (program === 'find') return 'Say allow_dash: false; for find, -- protects nothing.'
  if (!PASSES_ON.has(program)) return 'Write -- before it, or allow_dash: false.'
  return `Write -- -- before it, since the first is for ${program} itself, or allow_dash: false.`
}
