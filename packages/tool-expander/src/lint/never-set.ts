import type { LintFinding } from './finding.js'
import type { ShellSource } from './source.js'

/** `cat ${file:-README.md}`: who writes a default in the template wants a parameter, and gets a variable that nothing sets. */
export function neverSet({ scan, template, at }: ShellSource): LintFinding[] {
  const found = scan.expanded.filter(
    // The environment's own names are in capitals, but for http_proxy and the like.
    ({ name, offset }) =>
      /^[a-z]\w*(?<!_proxy)$/.test(name) &&
      WITH_DEFAULT.test(template.slice(offset, offset + name.length + 5)),
  )
  if (found.length === 0) return []
  // Whatever may set it names it: an assignment, read, for, getopts.
  const named = new Set([...template.matchAll(/(?<![\w$])(?<!\$\{[#!]?)\w+/g)].map(([name]) => name))
  return found
    .filter(({ name }) => !named.has(name))
    .map(({ name, offset }) => {
      const message = `${name} is a variable of the shell here, and nothing sets it.`
      return at('never-set', offset, message, `Write \${${name}}, and its default under parameters:.`)
    })
}

const WITH_DEFAULT = /^\$\{\w+:?-[^}]/
