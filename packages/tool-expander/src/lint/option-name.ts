import type { Entry } from './entry.js'
import { findingAbout, type LintFinding } from './finding.js'

/** `option_name: --key` of a value that is no option, which nobody reads. */
export function unreadOptionName({ parameter, path, syntax }: Entry): LintFinding[] {
  const { name, inject_as, option_name: option } = parameter
  if (option === undefined || inject_as === 'option') return []
  const inTemplate = syntax && `Write ${dashed(option)}=\${${name}} in ${syntax}:.`
  const hint = inTemplate ?? 'Say inject_as: option beside it.'
  const message = 'option_name means nothing without inject_as: option.'
  return [
    findingAbout('unknown-key', `${path}.option_name`, message, inject_as === 'stdin' ? 'Remove it.' : hint),
  ]
}

/** `option_name: key`, which is a word of the command like any other. */
export function optionName({ parameter, path }: Entry): LintFinding[] {
  const { inject_as, option_name: option } = parameter
  if (option === undefined || inject_as !== 'option' || /^[-+/]/.test(option)) return []
  const message = `${option} stands in the command as it is, without dashes.`
  return [findingAbout('option-name', `${path}.option_name`, message, `Write option_name: ${dashed(option)}`)]
}

function dashed(option: string): string {
  if (option.startsWith('-')) return option
  return option.length === 1 ? `-${option}` : `--${option}`
}
