import type { LintFinding } from './finding.js'
import type { ShellSource } from './source.js'

/** `$1` in a script, where the positionals are the values of this tool. */
export function positional({ scan, at }: ShellSource): LintFinding[] {
  return scan.expanded
    .filter(({ name }) => /^\$[\d@*#]$/.test(name))
    .map(({ name, offset }) =>
      at('positional', offset, `${name} counts the values of this tool.`, 'Write the placeholder.'),
    )
}
