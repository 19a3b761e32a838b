import type { LintFinding } from './finding.js'
import type { ShellSource } from './source.js'

/** `${name:raw}`, which a model fills with words of its own. */
export function raw({ scan, names, at }: ShellSource): LintFinding[] {
  return scan.found
    .filter((value) => value.raw && names.open.has(value.name))
    .map(({ name, offset }) => {
      const message = `The shell splits and globs what the model sends for ${name}.`
      return at('raw', offset, message, 'Remove :raw if the value is one argument.')
    })
}
