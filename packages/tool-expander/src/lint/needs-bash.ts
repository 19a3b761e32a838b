import type { LintFinding } from './finding.js'
import type { ScriptCommand, ShellSource } from './source.js'

/** A guess from the text alone: it may lie inside double quotes. */
const BASH_ONLY =
  /(?<![^\s;&|(!])(?:\[\[\s|\(\(|function\s|select\s+\w+\s+in\s|source\s|coproc\s)|<<<|[<>]\(|&>|\|&|;;?&|\$['[]|\$\(\s*<(?![<(])|\w\+?=\(|\$\{!?\w+(?:[[/^,@]|:[\d ])/
const COMMANDS = /^(?:mapfile|readarray|shopt|pushd|popd|let|declare|typeset|builtin|caller|compgen)$/
const VARIABLES =
  /^\$?(?:S?RANDOM|SECONDS|PIPESTATUS|FUNCNAME|BASHPID|BASH_\w+|EPOCH(?:SECONDS|REALTIME)|E?UID)$/
const BRACES = /\{([^{}]*)\}/g

/** Syntax, commands and variables of bash's own. Only the first is named: one change mends them all. */
export function needsBash({ template, scan, commands, at }: ShellSource): LintFinding[] {
  // What stands in single quotes is no syntax, and may be for bash: bash -c '[[ … ]]'
  const text = template.replace(/'[^'\n]*'/g, (quoted) => `'${' '.repeat(quoted.length - 2)}'`)
  const written = BASH_ONLY.exec(text)
  const offsets = [
    ...(written ? [written.index] : []),
    ...commands.flatMap((command) => (isOfBash(command) ? [command.offset] : [])),
    ...commands.flatMap(({ words }) => words.filter(hasBraces).map(({ offset }) => offset)),
    ...scan.expanded.filter(({ name }) => VARIABLES.test(name)).map(({ offset }) => offset),
  ].sort((a, b) => a - b)
  const message = "This looks like bash's own; sh may be another shell."
  const hint = "Or write command: [bash, -c, '…', --]."
  return offsets.slice(0, 1).map((offset) => at('needs-bash', offset, message, hint))
}

function isOfBash({ shapes: [name = '', ...words] }: ScriptCommand): boolean {
  if (COMMANDS.test(name)) return true
  if (name === 'set') return words.some((word) => /^(?:pipefail|errtrace|functrace)$/.test(word))
  if (name === 'printf') return words[0] === '-v' || /%[q(]/.test(words[0] ?? '')
  if (name === 'echo') return /^-n?en?$/.test(words[0] ?? '')
  if (name === 'read') return words.some((word) => /^-r?[adeinNstu]/.test(word))
  if (name === 'trap') return words.some((word) => /^(?:ERR|DEBUG|RETURN)$/.test(word))
  return /^(?:\[|test)$/.test(name) && words.some((word) => /^(?:==|=~|-v)$/.test(word))
}

/** `{a,b}`, which only some shells make two words of. */
function hasBraces({ shape, quoted }: ScriptCommand['words'][number]): boolean {
  return !quoted && [...shape.matchAll(BRACES)].some(([, inside = '']) => /,|\.\./.test(inside))
}
