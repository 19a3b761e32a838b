import {
  type Compiled,
  inferParameters,
  type KnownParameter,
  plainNames,
  writeCommand,
} from '../parameters.js'
import { isParameter, matches, type Part } from '../template.js'
import { readCommands } from './commands.js'
import { complain, disagree, type Found, type Scan, scanTemplate } from './scan.js'

/**
 * Compiles a `shell:` template to `sh -c` with positional parameters.
 *
 * Every placeholder becomes a reference to a positional, quoted for the place it stands in, so a value is never
 * part of the script. Where no reference would be safe, the template is refused.
 *
 * @param stdin - The parameter that `stdin:` names. Its places in the template stay empty.
 */
export function compileShell(
  template: string,
  parameters?: readonly KnownParameter[],
  stdin?: string,
): Compiled & { scan: Scan } {
  const { scan, problems } = scanTemplate('shell', template, plainNames(parameters), (scan) => {
    readCommands(scan, [''])
    checkScript(scan)
  })
  const inferred = inferParameters(scan.found.filter(({ name }) => name !== stdin))
  // Parameters come first.
  const numbers = new Map<string, number>()
  for (const { name } of [...inferred, ...scan.found])
    numbers.set(name, numbers.get(name) ?? numbers.size + 1)
  const words: Part[][] = [['sh'], ['-c'], [writeScript(scan, numbers)], ['--']]
  for (const name of numbers.keys()) words.push(name === stdin ? [] : [{ name, offset: 0 }])
  const checkedWords = [...scan.checkedWords].map((word) => word.replaceAll(`\${${stdin}}`, ''))
  return { ...writeCommand(words, inferred), checkedWords, problems, scan }
}

/** What a `\` at the end of a line splits, which is one to the shell: `$(`, `((`, `$name`. */
const SPLIT = /\$[{#!]*\w*(?:\\\n)+\S|[(<>](?:\\\n)+[()<>&|]|[&|;](?:\\\n)+[&|;>]/g

function checkScript(scan: Scan): void {
  if (scan.template.trim() === '') complain(scan, 0, 'ERR_COMMAND_WORD', 'The script is empty.')
  for (const { index } of matches(SPLIT, scan.template)) disagree(scan, index, 'this \\ at the end of a line')
  const parameters = new Set(scan.found.filter(isParameter).map(({ name }) => name))
  for (const { name, offset } of scan.expanded) {
    const message = `\${${name}} is a parameter, which the shell cannot expand.`
    if (parameters.has(name)) complain(scan, offset, 'ERR_SHELL_POSITIONAL', message)
  }
}

function writeScript({ template, edits }: Scan, numbers: ReadonlyMap<string, number>): string {
  let script = ''
  let end = 0
  for (const edit of edits) {
    script += template.slice(end, edit.offset)
    end = edit.offset + edit.length
    if ('name' in edit) script += positional(edit, numbers.get(edit.name) ?? 0, template.charAt(end))
  }
  return script + template.slice(end)
}

function positional({ raw, quoting }: Found, number: number, next: string): string {
  const bare = raw || quoting === 'double' || quoting === 'document'
  const braces = number > 9 || (bare && /\d/.test(next))
  const reference = braces ? `\${${number}}` : `$${number}`
  const quoted = bare ? reference : `"${reference}"`
  return quoting === 'single' ? `'${quoted}'` : quoted
}
