import { baseName, programIndex } from '../programs.js'
import { isParameter } from '../template.js'
import type { LintFinding, Source } from './source.js'

// Findings in the text of `exec:` or `shell:`. Where it is only matched, they are guesses: it may lie inside quotes.

const QUOTED = /\\.|"(?:\\.|[^"\\])*"|'[^']*'|\$\{\w+\}/gs

/** `${program} --help`: a value names the program. As the very first word, `exec:` refuses that itself. */
export function programChosen({ commands, open, at }: Source): LintFinding[] {
  const hint = 'Write a tool for each program, or give the value an enum or type: boolean.'
  return commands.flatMap(({ words, shapes }) => {
    const index = programIndex(shapes)
    // Behind an option it may be what that takes: `sudo -u ${user} ls`.
    if (shapes.slice(0, index).some((shape) => shape.startsWith('-'))) return []
    const value = words[index]?.pieces.filter(isParameter).find(({ name }) => open.has(name))
    return value ? [at('program-chosen', value.offset, 'A value chooses the program that runs.', hint)] : []
  })
}

/** `{file}` or `{{ file }}`; `@{u}`, `^{tree}` and `%{size}` mean something to programs. */
const FOREIGN = /(?<![$@^%{])(?:\{\{ *([A-Za-z_]\w*) *\}\}|\{([A-Za-z_]\w*)\})(?!\})/g
/** Programs to which a name in braces means something. */
const OWN_BRACES = /(?<![\w./-])(?:[jy]q|xargs|parallel|fzf|fd|just)(?![\w.-])/

/** `cat {file}`, as other frameworks write it: the braces reach the command, and the model has nothing to give. */
export function foreignPlaceholder({ template, at }: Source): LintFinding[] {
  if (OWN_BRACES.test(template)) return []
  const bare = template.replace(QUOTED, (quoted) => ' '.repeat(quoted.length))
  return [...bare.matchAll(FOREIGN)].map(({ 0: written, 1: double, 2: single, index }) => {
    const message = `${written} is plain text here, and no parameter.`
    return at('foreign-placeholder', index, message, `Write \${${double ?? single}}, or quotes for the text.`)
  })
}

/** What only a shell expands: names of files, homes, `{a,b}`, comments. */
const EXPANDED = /[*?]|\[[^\]]+\]|^~|\{[^{}]*(?:,|\.\.)[^{}]*\}|^#/
/** Options whose word is a pattern for the program itself, and those with it attached. */
const TAKES_PATTERN =
  /^(?:-i?(?:name|path|lname|wholename|regex)|-g|--i?glob|--(?:include|exclude)(?:-dir|-glob)?|-path-?spec)$/
const HAS_PATTERN = /^--?[\w-]+=|\{\{|\{\.|:\/\//
/** Programs whose first operand is a pattern or a program. */
const FIRST_IS_PATTERN = /^(?:[efz]?grep|rg|ag|ack|g?sed|[gmn]?awk|jq|yq|expr)$/

/** `*` or `~` in `exec:`, where they are text. Named once: who wrote one expected a shell. */
export function literalCharacter({ template, at }: Source): LintFinding[] {
  const bare = template.replace(QUOTED, (quoted) => '\0'.repeat(quoted.length))
  const words = [...bare.matchAll(/\S+/g)].map(({ 0: word, index: offset }) => ({ word, offset }))
  const first = words.findIndex(({ word }, index) => index > 0 && !word.startsWith('-'))
  for (const [index, { word, offset }] of words.entries()) {
    const special = EXPANDED.exec(word)
    const isPattern =
      HAS_PATTERN.test(word) ||
      TAKES_PATTERN.test(words[index - 1]?.word ?? '') ||
      (index === first && FIRST_IS_PATTERN.test(baseName(words[0]?.word)))
    if (special === null || isPattern) continue
    const message = `${special[0]} means nothing special in exec:.`
    return [at('literal-character', offset + special.index, message, 'Use shell: to expand it, or quotes.')]
  }
  return []
}

/** `${name:raw}`, which a model fills with words of its own. */
export function raw({ found, open, at }: Source): LintFinding[] {
  return found
    .filter((value) => value.raw && open.has(value.name))
    .map(({ name, offset }) => {
      const message = `The shell splits and globs what the model sends for ${name}.`
      return at('raw', offset, message, 'Remove :raw if the value is one argument.')
    })
}

const BASH_SYNTAX =
  /(?<![^\s;&|(!])(?:\[\[\s|\(\(|function\s|select\s+\w+\s+in\s|source\s|coproc\s)|<<<|[<>]\(|&>|\|&|;;?&|\$['[]|\$\(\s*<(?![<(])|\w\+?=\(|\$\{!?\w+(?:[[/^,@]|:[\d ])|(?<!\S)[^\s"'{}$]*\{[^\s{}"']*(?:,|\.\.)[^\s{}"']*\}|\$\{?(?:S?RANDOM|SECONDS|PIPESTATUS|FUNCNAME|BASHPID|BASH_\w+|EPOCH(?:SECONDS|REALTIME)|E?UID)\b/
const BASH_COMMAND =
  /^(?:(?:mapfile|readarray|shopt|pushd|popd|let|declare|typeset|builtin|caller|compgen)\b|set .*(?:pipefail|errtrace|functrace)|printf (?:-v|\S*%[q(])|echo -n?en? |read -r?[adeinNstu]|trap .*\b(?:ERR|DEBUG|RETURN)$|(?:\[|test) (?:.* )?(?:==|=~|-v)(?: |$))/

/** Syntax, commands and variables of bash's own. Only the first is named: one change mends them all. */
export function needsBash({ template, commands, at }: Source): LintFinding[] {
  // What stands in single quotes is no syntax, and may be for bash: bash -c '[[ … ]]'
  const text = template.replace(/'[^'\n]*'/g, (quoted) => `'${' '.repeat(quoted.length - 2)}'`)
  const offsets = [
    ...[BASH_SYNTAX.exec(text)?.index ?? []].flat(),
    ...commands.flatMap(({ words: [first], shapes }) =>
      BASH_COMMAND.test(shapes.join(' ')) ? (first?.offset ?? []) : [],
    ),
  ].sort((a, b) => a - b)
  const message = "This looks like bash's own; sh may be another shell."
  return offsets
    .slice(0, 1)
    .map((offset) => at('needs-bash', offset, message, "Or write command: [bash, -c, '…', --]."))
}

const LOOP = /(?<![^\s;&|(])(?:for|select)\s+(\w+)(?:\s+in\s([^\n;]*))?/g

/** `for f in *; do echo ${f}; done`: the placeholder is not the variable. */
export function scriptVariable({ template, commands, found, at }: Source): LintFinding[] {
  const values = new Set(found.map(({ name }) => name))
  const assigned = commands
    .flatMap(({ assignments }) => assignments)
    .map(({ shape, offset, found: used }) => ({ name: /^\w*/.exec(shape)?.[0] ?? '', offset, used }))
  const loops = [...template.matchAll(LOOP)].map(({ 1: name = '', 2: words = '', index: offset }) => ({
    ...{ name, offset },
    used: found.filter((value) => words.includes(`\${${value.name}}`)),
  }))
  return [...assigned, ...loops]
    .filter(({ name, used }) => values.has(name) && !used.some((value) => value.name === name))
    .map(({ name, offset }) => {
      const message = `The script sets ${name}, but \${${name}} is a parameter.`
      return at('script-variable', offset, message, `Write $${name} for the variable.`)
    })
}

/** What may set variables that the template does not name, and functions, which have positionals of their own. */
const SETS_UNNAMED = /(?<![^\s;&|({])(?:(?:\.|source|eval|function)\s|[\w:.-]+\s*\(\))/

/** `cat $file` and `cat $1`: who writes these often wants a parameter, and gets a variable of the shell. */
export function shellVariable({ template, expanded, at }: Source): LintFinding[] {
  if (SETS_UNNAMED.test(template)) return []
  // Whatever may set it names it: an assignment, read, for, getopts.
  const named = new Set([...template.matchAll(/(?<![\w$])\w+/g)].map(([name]) => name))
  return expanded.flatMap(({ name: written, offset }) => {
    const name = written.slice(1)
    if (/^\$[1-9@*]/.test(written))
      return [
        at('positional', offset, `${written} counts the values of this tool.`, 'Write the placeholder.'),
      ]
    // The environment's own names are in capitals, but for http_proxy and the like.
    if (!/^\$[a-z]\w*(?<!_proxy)$/.test(written) || named.has(name)) return []
    const message = `${name} is a variable of the shell here, and nothing sets it.`
    const hint = `Write \${${name}} for a parameter, \${${name}-} for a variable of the environment.`
    return [at('never-set', offset, message, hint)]
  })
}
