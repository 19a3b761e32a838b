import type { Entry } from './entry.js'
import { findingAbout, type LintFinding } from './finding.js'
import type { LintOptions } from './options.js'

/** `${HOME}` is a parameter; the author probably meant the variable. */
export function environmentName(
  { parameter: { name }, path }: Entry,
  { environment = {} }: LintOptions,
): LintFinding[] {
  if (!/^[A-Z_]+$/.test(name) || !Object.hasOwn(environment, name)) return []
  const message = `${name} is a parameter and a set variable.`
  const hint = `Write $${name} in shell:, without braces, for the variable.`
  return [findingAbout('environment-name', path, message, hint)]
}
