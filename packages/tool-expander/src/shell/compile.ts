import type { Compiled, Inferred } from '../inferred.js'
import type { ToolProblem } from '../problems.js'
import { isEngineVariable, writeElement } from '../template.js'
import { readCommands } from './commands.js'
import { describe, type Found, references, type Scan, ScanStopped, startScan } from './scan.js'

/**
 * Compiles a `shell:` template to `sh -c` with positional parameters.
 *
 * Every placeholder becomes a reference to a positional, quoted for the place it stands in, so a value is never
 * part of the script. Where no reference would be safe, the template is refused.
 */
export function compileShell(template: string): { compiled: Compiled; problems: ToolProblem[]; scan: Scan } {
  const scan = scanShell(template)
  const names = [...new Set(scan.found.map(({ name }) => name))]
  const parameters = names.filter((name) => !isEngineVariable(name))
  const ordered = [...parameters, ...names.filter(isEngineVariable)]
  const plain = ['sh', '-c', writeScript(scan, ordered), '--']
  const substitute = ordered.length > parameters.length || /\$\{(?:AGENT_HOME|CWD)\}/.test(plain.join())
  const command = substitute
    ? [...plain.map((word) => writeElement([word])), ...ordered.map((name) => `\${${name}}`)]
    : plain
  const inferred = parameters.map((name, position) => infer(scan, name, position))
  return {
    compiled: { command, substitute, inferred, checkedWords: [...scan.checkedWords] },
    problems: problemsOf(scan),
    scan,
  }
}

/** Reads a whole script. Its problems are in `problems` and, if it has placeholders, `hazards`. */
function scanShell(template: string): Scan {
  const scan = startScan(template)
  try {
    readCommands(scan, [''])
    scan.pending = []
  } catch (error) {
    if (!(error instanceof ScanStopped)) throw error
    // Without placeholders nothing can go wrong but an open quote: the script is the shell's business.
    if (error.problem.code === 'ERR_QUOTE' || references(startScan(template), template.length).length > 0)
      scan.problems.push(error.problem)
  }
  return scan
}

function problemsOf(scan: Scan): ToolProblem[] {
  if (scan.text.trim() === '')
    return [describe(scan, 0, 'The script is empty.', 'Write one.', 'ERR_COMMAND_WORD')]
  const expanded = scan.expanded.filter(
    ({ name }) => !isEngineVariable(name) && scan.found.some((found) => found.name === name),
  )
  return [
    ...scan.problems,
    ...(scan.found.length > 0 ? scan.hazards : []),
    ...expanded.map(({ name, offset }) => {
      const message = `\${${name}} is a parameter; the shell cannot expand it here.`
      const hint = `Assign it first, under another name: f=\${${name}}; … \${f%.txt}.`
      return describe(scan, offset, message, hint, 'ERR_SHELL_POSITIONAL')
    }),
  ].sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))
}

function infer(scan: Scan, name: string, position: number): Inferred {
  const places = scan.found.filter((found) => found.name === name)
  const checks = places.map(({ checked }) => checked)
  return {
    name,
    injectAs: 'argument',
    position,
    raw: places.some(({ raw }) => raw),
    allowDash: checks.includes('value') ? false : checks.includes('word') ? undefined : true,
    single: true,
  }
}

function writeScript({ text, found, dropped }: Scan, ordered: readonly string[]): string {
  const edits = [
    ...found.map((place) => ({
      offset: place.offset,
      length: place.length,
      write: positional(place, ordered, text),
    })),
    ...dropped.map((offset) => ({ offset, length: 1, write: '' })),
  ].sort((a, b) => a.offset - b.offset)
  let script = ''
  let end = 0
  for (const { offset, length, write } of edits) {
    script += text.slice(end, offset) + write
    end = offset + length
  }
  return script + text.slice(end)
}

function positional(
  { name, raw, quoting, offset, length }: Found,
  ordered: readonly string[],
  text: string,
): string {
  const number = ordered.indexOf(name) + 1
  const bare = raw || quoting === 'double' || quoting === 'document'
  const braces = number > 9 || (bare && /\d/.test(text.charAt(offset + length)))
  const reference = braces ? `\${${number}}` : `$${number}`
  const quoted = bare ? reference : `"${reference}"`
  return quoting === 'single' ? `'${quoted}'` : quoted
}
