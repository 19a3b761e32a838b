import type { LintFinding } from './finding.js'
import type { ShellSource } from './source.js'

/** `${name:raw}`, which a model fills. */
export function raw({ scan, at }: ShellSource): LintFinding[] {
  return scan.found
    .filter((value) => value.raw)
    .map(({ name, offset }) => {
      const message = `The shell splits and globs what the model sends for ${name}.`
      return at('raw', offset, message, 'Remove :raw if the value is one argument.')
    })
}
