import { TAKES_NAMES } from '../shell/rules.js'
import type { LintFinding } from './finding.js'
import type { ShellSource } from './source.js'

/** A guess from the text alone: it may lie inside quotes. */
const LOOP = /(?<![^\s;&|(])(?:for|select)\s+(\w+)(?:\s+in\s([^\n;]*))?/g

/** A variable that a script sets. */
interface Assigned {
  name: string
  offset: number
  /** It gets the value of that name, so both are the same. */
  isSame: boolean
}

/** `for f in *; do echo ${f}; done`: the placeholder is not the variable. */
export function scriptVariable(source: ShellSource): LintFinding[] {
  const { scan, at } = source
  const values = new Set(scan.found.map(({ name }) => name))
  return assignedIn(source)
    .filter(({ name, isSame }) => values.has(name) && !isSame)
    .map(({ name, offset }) => {
      const message = `The script sets ${name}, but \${${name}} is a parameter.`
      return at('script-variable', offset, message, `Write $${name} for the variable.`)
    })
}

/** The variables a script sets itself. */
function assignedIn({ template, commands }: ShellSource): Assigned[] {
  const words = commands.flatMap(({ assignments, words, shapes: [command = ''] }) => [
    ...assignments,
    ...(TAKES_NAMES.has(command) ? words.slice(1) : []),
  ])
  const assigned = words.map(({ shape, offset, found }) => {
    const name = /^\w+(?=[[+=])/.exec(shape)?.[0] ?? ''
    return { name, offset, isSame: found.some((value) => value.name === name) }
  })
  const loops = [...template.matchAll(LOOP)].map(({ 1: name = '', 2: words = '', index: offset }) => ({
    name,
    offset,
    isSame: words.includes(`\${${name}}`),
  }))
  return [...assigned, ...loops]
}
