import { matchAt } from '../template.js'
import type { LintFinding } from './finding.js'
import { readAsValues } from './read-as-values.js'
import type { ShellSource } from './source.js'

/** `$1` in a script, where the positionals are the values of this tool. A function has its own. */
export function positional({ scan, template, at }: ShellSource): LintFinding[] {
  const written = scan.expanded.flatMap(({ offset }) => {
    const [name] = matchAt(POSITIONAL, template, offset) ?? []
    return name === undefined ? [] : [{ offset, length: name.length, written: name }]
  })
  if (written.length === 0) return []
  const { inFunction } = readAsValues(template, written)
  return written
    .filter((stand) => !inFunction.has(stand))
    .map(({ written: name, offset }) =>
      at('positional', offset, `${name} ${meaningOf(name)}`, 'Write the placeholder.'),
    )
}

const POSITIONAL = /\$(?:[\d@*#]|\{(?:\d+|[@*#])\})/y

/** `sh -c script -- values`: what follows the script is $0. */
function meaningOf(name: string): string {
  return /^\$\{?0/.test(name) ? 'is "--" here, and no value of this tool.' : 'counts the values of this tool.'
}
