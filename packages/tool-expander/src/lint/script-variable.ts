import { TAKES_NAMES } from '../shell/rules.js'
import type { LintFinding } from './finding.js'
import type { ShellSource } from './source.js'

/** A guess from the text alone: it may lie inside quotes. */
const LOOP = /(?<![^\s;&|(])(?:for|select)\s+(\w+)/g

/** `for f in *; do echo ${f}; done`: the placeholder is not the variable. */
export function scriptVariable(source: ShellSource): LintFinding[] {
  const { scan, at } = source
  const values = new Set(scan.found.map(({ name }) => name))
  return assignedIn(source)
    .filter(({ name }) => values.has(name))
    .map(({ name, offset }) => {
      const message = `The script sets ${name}, but \${${name}} is a parameter.`
      return at('script-variable', offset, message, `Write $${name} for the variable.`)
    })
}

/** The variables a script sets itself. */
function assignedIn({ template, commands }: ShellSource): { name: string; offset: number }[] {
  const words = commands.flatMap(({ assignments, words, shapes: [command = ''] }) => [
    ...assignments,
    ...(TAKES_NAMES.has(command) ? words.slice(1) : []),
  ])
  const assigned = words.map((word) => ({
    name: /^\w+(?=[[+=])/.exec(word.shape)?.[0] ?? '',
    offset: word.offset,
  }))
  const loops = [...template.matchAll(LOOP)].map(({ 1: name = '', index: offset }) => ({ name, offset }))
  return [...assigned, ...loops]
}
