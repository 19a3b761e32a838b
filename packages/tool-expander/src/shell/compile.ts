import { type Compiled, inferParameters } from '../inferred.js'
import { isToolExpansionError, type ToolProblem } from '../problems.js'
import { isEngineVariable, isParameter, writeElement } from '../template.js'
import { readCommands } from './commands.js'
import { complain, type Found, references, type Scan, startScan } from './scan.js'

/**
 * Compiles a `shell:` template to `sh -c` with positional parameters.
 *
 * Every placeholder becomes a reference to a positional, quoted for the place it stands in, so a value is never
 * part of the script. Where no reference would be safe, the template is refused.
 */
export function compileShell(template: string): Compiled & { scan: Scan } {
  const scan = scanShell(template)
  const names = [...new Set(scan.found.map(({ name }) => name))]
  const parameters = names.filter((name) => !isEngineVariable(name))
  const ordered = [...parameters, ...names.filter(isEngineVariable)]
  const plain = ['sh', '-c', writeScript(scan, ordered), '--']
  const substitute = ordered.length > parameters.length || /\$\{(?:AGENT_HOME|CWD)\}/.test(plain.join())
  return {
    command: substitute
      ? [...plain.map((word) => writeElement([word])), ...ordered.map((name) => `\${${name}}`)]
      : plain,
    substitute,
    inferred: inferParameters(scan.found.filter(isParameter)),
    checkedWords: [...scan.checkedWords],
    problems: problemsOf(scan, parameters),
    scan,
  }
}

/** Reads a whole script. Its problems are in `problems` and, if it has placeholders, `hazards`. */
function scanShell(template: string): Scan {
  const scan = startScan(template)
  try {
    readCommands(scan, [''])
  } catch (error) {
    if (!isToolExpansionError(error)) throw error
    // Without placeholders nothing can go wrong but an open quote: the script is the shell's business.
    if (error.code === 'ERR_QUOTE' || references(startScan(template), template.length).length > 0)
      scan.problems.push(...error.problems)
  }
  return scan
}

function problemsOf(scan: Scan, parameters: readonly string[]): ToolProblem[] {
  if (scan.text.trim() === '') complain(scan, 0, 'The script is empty.', 'Write one.', 'ERR_COMMAND_WORD')
  for (const { name, offset } of scan.expanded) {
    if (!parameters.includes(name)) continue
    const message = `\${${name}} is a parameter; the shell cannot expand it here.`
    const hint = `Assign it first, under another name: f=\${${name}}; … \${f%.txt}.`
    complain(scan, offset, message, hint, 'ERR_SHELL_POSITIONAL')
  }
  if (scan.found.length > 0) scan.problems.push(...scan.hazards)
  return scan.problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))
}

function writeScript({ text, found, dropped }: Scan, ordered: readonly string[]): string {
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
