import type { LintFinding } from './finding.js'
import type { ShellSource } from './source.js'

/** `cat $file` and `cat ${file:-README.md}`: who writes these often wants a parameter, and gets a variable that nothing sets. */
export function neverSet(source: ShellSource): LintFinding[] {
  const { template, at } = source
  const found = [...withDefault(source), ...bare(source)]
  if (found.length === 0) return []
  // Whatever may set it names it: an assignment, read, for, getopts.
  const named = new Set([...template.matchAll(/(?<![\w$])(?<!\$\{[#!]?)\w+/g)].map(([name]) => name))
  return found
    .filter(({ name }) => OWN_NAME.test(name) && !named.has(name))
    .map(({ name, offset, hint }) => {
      const message = `${name} is a variable of the shell here, and nothing sets it.`
      return at('never-set', offset, message, hint)
    })
}

/** The environment's own names are in capitals, but for http_proxy and the like. */
const OWN_NAME = /^[a-z]\w*(?<!_proxy)$/

interface Suspect {
  name: string
  offset: number
  hint: string
}

function withDefault({ scan, template }: ShellSource): Suspect[] {
  return scan.expanded
    .filter(({ name, offset }) => WITH_DEFAULT.test(template.slice(offset, offset + name.length + 5)))
    .map((each) => ({ ...each, hint: `Write \${${each.name}}, and its default under parameters:.` }))
}

const WITH_DEFAULT = /^\$\{\w+:?-[^}]/

function bare({ scan, commands }: ShellSource): Suspect[] {
  if (commands.some(({ shapes: [command = ''] }) => SETS_UNNAMED.test(command))) return []
  // `${file:=a}` sets it, and who writes `${file-}` elsewhere knows whose it is
  const braced = new Set(scan.expanded.map(({ name }) => name))
  return scan.expanded
    .filter(({ name }) => name.startsWith('$') && !braced.has(name.slice(1)))
    .map(({ name: written, offset }) => {
      const name = written.slice(1)
      const hint = `Write \${${name}} for a parameter, \${${name}-} for a variable of the environment.`
      return { name, offset, hint }
    })
}

/** What may set variables that the template does not name. */
const SETS_UNNAMED = /^(?:\.|source|eval)$/
