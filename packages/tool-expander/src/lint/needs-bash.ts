import type { LintFinding } from './finding.js'
import type { ShellSource } from './source.js'

/** A guess from the text alone: it may lie inside quotes. */
const BASH_ONLY =
  /(?<![^\s;&|(!])(?:\[\[\s|\(\(|function\s|select\s+\w+\s+in\s|source\s|declare\s|coproc\s)|<<<|[<>]\(|&>|\|&|;;?&|\$['[]|\w\+?=\(|\$\{!?\w+(?:[[/^,@]|:[\d ])/

/** Syntax of bash's own. */
export function needsBash({ template, at }: ShellSource): LintFinding[] {
  const written = BASH_ONLY.exec(template)
  if (written === null) return []
  const message = "This looks like bash's own; sh may be another shell."
  return [at('needs-bash', written.index, message, "Or write command: [bash, -c, '…', --].")]
}
