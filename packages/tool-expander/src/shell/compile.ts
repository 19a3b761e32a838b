import { type Compiled, inferParameters, writeCommand } from '../inferred.js'
import { isEngineVariable, type Part } from '../template.js'
import { readCommands } from './commands.js'
import { complain, type Found, type Scan, startScan, whileReading } from './scan.js'

/**
 * Compiles a `shell:` template to `sh -c` with positional parameters.
 *
 * Every placeholder becomes a reference to a positional, quoted for the place it stands in, so a value is never
 * part of the script. Where no reference would be safe, the template is refused.
 */
export function compileShell(template: string): Compiled & { scan: Scan } {
  const scan = startScan(template)
  whileReading(scan, () => {
    readCommands(scan, [''])
    checkScript(scan)
  })
  const names = [...new Set(scan.found.map(({ name }) => name))]
  const ordered = [...names.filter((name) => !isEngineVariable(name)), ...names.filter(isEngineVariable)]
  const words: Part[][] = [['sh'], ['-c'], [writeScript(scan, ordered)], ['--']]
  return {
    ...writeCommand([...words, ...ordered.map((name) => [{ name, offset: 0 }])]),
    inferred: inferParameters(scan.found),
    checkedWords: [...scan.checkedWords],
    problems: scan.problems,
    scan,
  }
}

function checkScript(scan: Scan): void {
  if (scan.template.trim() === '') complain(scan, 0, 'ERR_COMMAND_WORD', 'The script is empty.')
  for (const { name, offset } of scan.expanded) {
    if (isEngineVariable(name) || !scan.found.some((found) => found.name === name)) continue
    const message = `\${${name}} is a parameter; the shell cannot expand it here.`
    complain(scan, offset, 'ERR_SHELL_POSITIONAL', message)
  }
}

function writeScript({ template: text, found, dropped }: Scan, ordered: readonly string[]): string {
  let script = ''
  let end = 0
  const places: (Found | Scan['dropped'][number])[] = [...found, ...dropped]
  for (const place of places.sort((a, b) => a.offset - b.offset)) {
    script += text.slice(end, place.offset)
    end = place.offset + place.length
    if ('name' in place) script += positional(place, ordered.indexOf(place.name) + 1, text.charAt(end))
  }
  return script + text.slice(end)
}

function positional({ raw, quoting }: Found, number: number, next: string): string {
  const bare = raw || quoting === 'double' || quoting === 'document'
  const braces = number > 9 || (bare && /\d/.test(next))
  const reference = braces ? `\${${number}}` : `$${number}`
  const quoted = bare ? reference : `"${reference}"`
  return quoting === 'single' ? `'${quoted}'` : quoted
}
