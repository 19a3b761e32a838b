import type { Entry } from './entry.js'
import { findingAbout, type LintFinding } from './finding.js'

/** As in the executor, which says what it does not see; this package imports nothing. */
const REPEATED_REPETITION =
  /\((?:\?:|\?<\w+>|(?!\?))(?:[^()]*\|)?(?!(?:\\[-./]|[-,:;/@ ])(?![*+?{]))(?:\\.|\[(?:\\.|[^\]\\])*\]|[^()[\]\\|])*?(?:[*+]|\{\d+,\d*\})\??(?:(?:\\.|\[(?:\\.|[^\]\\])*\]|[^()[\]\\|*+?{}])[?*]\??)*(?:\|[^()]*)?\)(?:[*+]|\{\d+,)/

/** A pattern that tries very many ways to match. */
export function slowPattern({ parameter: { pattern = '' }, path }: Entry): LintFinding[] {
  if (!REPEATED_REPETITION.test(pattern)) return []
  const message = 'A repetition inside a repetition can take very long to find that a value does not match.'
  const hint = 'Write one repetition: [ab]+ for (a+|b+)+.'
  return [findingAbout('slow-pattern', `${path}.pattern`, message, hint)]
}
