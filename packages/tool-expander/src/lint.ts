import { compileExec } from './exec.js'
import {
  baseName,
  findProgramText,
  mayStartAnother,
  operandIndex,
  PASSES_ON,
  type ProgramText,
  programIndex,
  programOf,
} from './interpreters.js'
import type { Inferred } from './parameters.js'
import { type Problem, placeOf } from './problems.js'
import { compileShell } from './shell/commands.js'
import type { Command } from './shell/scan.js'
import { isParameter, isWholeParameter, piecesOf, shapeOf } from './template.js'
import type { ExpandedParameter, ExpandedTool } from './tool.js'
import { wholePattern } from './values.js'

/** Which rule it breaks: to count findings by, or to leave some out. */
export type LintRule =
  | 'no-description'
  | 'command-not-found'
  | 'script-not-found'
  | 'option-like-values'
  | 'environment-name'
  | 'literal-character'
  | 'raw'
  | 'needs-bash'
  | 'value-in-program'
  | 'path-in-script'

/** Something a reviewer would ask about a tool that loads. `formatProblem` prints it. */
export interface LintFinding extends Problem {
  rule: LintRule
}

/** What `lintTool` may know besides the tool. */
export interface LintOptions {
  /** Whether a program exists; its name may begin with `${AGENT_HOME}` or `${TOOL_HOME}`. Without it, programs are not looked for. */
  commandExists?: ((program: string) => boolean) | undefined
  /** Whether a file exists; its path begins with `${AGENT_HOME}` or `${TOOL_HOME}`. Without it, scripts are not looked for. */
  fileExists?: ((path: string) => boolean) | undefined
  /** The environment the tool will run in; only its names matter. */
  env?: Readonly<Record<string, string | undefined>> | undefined
}

/**
 * What a reviewer would ask about a tool, in the order of its definition. Nothing here stops it from running.
 *
 * @example
 * lintTool(expandTool({ name: 'list', exec: 'ls ${directory}' }))[0].rule // 'no-description'
 */
export function lintTool(tool: ExpandedTool, options: LintOptions = {}): LintFinding[] {
  const source = sourceOf(tool)
  return [
    ...aboutTool(tool, options),
    ...missingScripts(tool, options),
    ...valueBehindCommand(tool),
    ...pathInScript(tool),
    ...tool.parameters.flatMap((parameter, index) => {
      const path = `parameters[${index}]`
      return [...aboutParameter(parameter, path, options), ...optionLikeValues(tool, parameter, path, source)]
    }),
    ...(source ? TEMPLATE_RULES.flatMap((rule) => rule(source)) : []),
  ]
}

/** What the author of a tool wrote, compiled once for all rules. */
interface Source {
  syntax: 'exec' | 'shell'
  template: string
  /** What the template alone says about the parameters. */
  inferred: readonly Inferred[]
  /** Parameters whose values are not listed, and not numbers. */
  open: ReadonlySet<string>
  /** The open parameters whose values may hold code. */
  code: ReadonlySet<string>
  /** The commands of a script; `exec:` is one. */
  commands: readonly (Command & { shapes: readonly string[] })[]
  at: (rule: LintRule, offset: number, message: string, hint: string) => LintFinding
}

/** Undefined for a hand-written `command:`. */
function sourceOf({ __meta: origin, parameters }: ExpandedTool): Source | undefined {
  if (origin === undefined) return undefined
  const { syntax, template, stdin } = origin
  const namesOf = (some: ExpandedParameter[]) => new Set(some.map(({ name }) => name))
  const exec = syntax === 'exec' ? compileExec(template, parameters, stdin) : undefined
  const shell = exec ? undefined : compileShell(template, parameters, stdin)
  const commands: readonly Command[] = shell?.scan.commands ?? [{ words: exec?.words ?? [], documents: [] }]
  return {
    syntax,
    template,
    inferred: (exec ?? shell)?.inferred ?? [],
    open: namesOf(parameters.filter(isOpen)),
    code: namesOf(parameters.filter(mayBeCode)),
    commands: commands.map((command) => ({ ...command, shapes: command.words.map(({ shape }) => shape) })),
    at: (rule, offset, message, hint) => ({
      ...{ rule, path: syntax, message, hint, template },
      ...placeOf(template, offset),
    }),
  }
}

function isOpen({ type, enum: values }: ExpandedParameter): boolean {
  return values === undefined && type !== 'integer' && type !== 'number' && type !== 'boolean'
}

/** True for a value that can be more than a word somewhere: to a shell, `perl`, SQL. */
function mayBeCode(parameter: ExpandedParameter): boolean {
  const { pattern } = parameter
  if (!isOpen(parameter) || pattern === undefined) return isOpen(parameter)
  const whole = new RegExp(wholePattern(pattern), 'u')
  return [...'$`\'"\\;|&<>(){}[]!/:% \n'].some((mark) =>
    [mark, `a${mark}`, `${mark}a`, `a${mark}a`, `1${mark}1`].some((text) => whole.test(text)),
  )
}

function aboutTool(
  { name, description, command }: ExpandedTool,
  { commandExists }: LintOptions,
): LintFinding[] {
  const [program = ''] = command
  const findings: LintFinding[] = []
  if (!description) findings.push(onlyName('description', name))
  if (commandExists?.(program) === false) {
    // For a program that is named by its path, only the path tells where it should be.
    const why = program.includes('/')
      ? 'is not a program that can be started: it is missing, or not executable (chmod +x).'
      : 'is not on the PATH. Install it, or write shell: if the shell does it itself, as with cd.'
    findings.push({ rule: 'command-not-found', path: 'command[0]', message: `${program} ${why}` })
  }
  return findings
}

/** By its ending a script, which no tool makes itself, as it may a database or a list. */
const SCRIPT =
  /(?<!\\)\$\{(?:AGENT|TOOL)_HOME\}\/[\w./-]*\.(?:[cm]?[jt]s|py|sh|bash|rb|pl|php|lua|awk|jq|R)(?![\w./-])/g

function missingScripts(
  { command, __meta: origin }: ExpandedTool,
  { fileExists }: LintOptions,
): LintFinding[] {
  if (fileExists === undefined) return []
  const templates = origin
    ? [{ path: origin.syntax as string, template: origin.template }]
    : command.map((template, index) => ({ path: `command[${index}]`, template }))
  return templates.flatMap(({ path, template }) =>
    [...template.matchAll(SCRIPT)]
      .filter(({ 0: script }) => script !== command[0] && !fileExists(script)) // of the program, another rule speaks
      .map(({ 0: script, index }) => ({
        ...{ rule: 'script-not-found' as const, path, message: `${script} does not exist.`, template },
        ...placeOf(template, index),
      })),
  )
}

function onlyName(path: string, what: string): LintFinding {
  const message = `${what} has no description; the model sees only its name.`
  return { rule: 'no-description', path, message }
}

function aboutParameter(
  { name, description }: ExpandedParameter,
  path: string,
  { env = {} }: LintOptions,
): LintFinding[] {
  const findings: LintFinding[] = []
  if (!description) findings.push(onlyName(path, name))
  if (/^[A-Z_]+$/.test(name) && Object.hasOwn(env, name)) {
    const hint = `Write $${name} in shell:, without braces, for the variable.`
    const message = `${name} is a parameter and a set variable.`
    findings.push({ rule: 'environment-name', path, message, hint })
  }
  return findings
}

const TEXT_NAME = /^(?:old|new|text|content|message|body|query|pattern|code|value)$/

/** Values that the program may take for options of its own, and right values that are refused because it might. */
function optionLikeValues(
  { command, checked_words: checkedWords = [] }: ExpandedTool,
  { name, type, inject_as, enum: values, pattern, description = '', allow_dash }: ExpandedParameter,
  path: string,
  source: Source | undefined,
): LintFinding[] {
  if (inject_as !== 'argument' || values !== undefined || isOptionValue(name, source)) return []
  const rule = 'option-like-values'
  const isInWord = checkedWords.some((word) => word.includes(`\${${name}}`))
  if (allow_dash === false || (allow_dash === undefined && isInWord)) {
    const isText = type === 'string' && (TEXT_NAME.test(name) || /\btexts?\b/i.test(description))
    if (!isText || pattern !== undefined) return []
    const message = `… \${${name}}: a value that begins with "-" (a list item, a diff line) is refused at call time.`
    const hint = 'Use stdin: json, put -- before it, or set allow_dash: true.'
    return [{ rule, path: source?.syntax ?? path, message, hint }]
  }
  const inferred = source?.inferred.find((known) => known.name === name)
  if (isInWord || inferred?.raw || inferred?.allow_dash) return []
  const program = baseName(command[programIndex(command)])
  const dashes = `Write -- -- before it, since the first is for ${program} itself, or allow_dash: false.`
  const elsewhere = PASSES_ON.has(program) ? dashes : 'Write -- before it, or allow_dash: false.'
  const hint = program === 'find' ? 'Say allow_dash: false; for find, -- protects nothing.' : elsewhere
  const message = `A value of ${name} may begin with "-" and be taken for an option.`
  return [{ rule, path, message, hint }]
}

/** True where every place of a value is right behind the name of an option, which takes it as it is: `grep -e ${text}`. */
function isOptionValue(name: string, source: Source | undefined): boolean {
  const places = (source?.commands ?? []).flatMap(({ words, shapes }) =>
    words.flatMap(({ pieces }, index) =>
      pieces.some((piece) => isParameter(piece) && piece.name === name) ? [shapes[index - 1] ?? ''] : [],
    ),
  )
  return places.length > 0 && places.every((before) => /^-(?:[A-Za-z\d]|-[A-Za-z][\w-]*)$/.test(before))
}

// Findings in the text of `exec:` or `shell:`. Where it is only matched, they are guesses: it may lie inside quotes.

const QUOTED = /\\.|"(?:\\.|[^"\\])*"|'[^']*'|\$\{\w+\}/gs

/** What only a shell expands: names of files, homes, `{a,b}`, comments. */
const EXPANDED = /[*?]|\[[^\]]+\]|^~|\{[^{}]*(?:,|\.\.)[^{}]*\}|^#/
/** Options whose word is a pattern for the program itself, and those with it attached. */
const TAKES_PATTERN =
  /^(?:-i?(?:name|path|lname|wholename|regex)|-g|--i?glob|--(?:include|exclude)(?:-dir|-glob)?|-path-?spec)$/
const HAS_PATTERN = /^--?[\w-]+=|\{\{|\{\.|:\/\//
/** Programs whose first operand is a pattern or a program. */
const FIRST_IS_PATTERN = /^(?:[efz]?grep|rg|ag|ack|g?sed|[gmn]?awk|jq|yq|expr)$/

/** `*` or `~` in `exec:`, where they are text. Named once: its author expected a shell. */
function literalCharacter({ syntax, template, at }: Source): LintFinding[] {
  if (syntax === 'shell') return []
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
function raw({ template, open, at }: Source): LintFinding[] {
  return [...template.matchAll(/(?<!\\)\$\{(\w+):raw\}/g)].flatMap(({ 1: name = '', index }) => {
    const message = `The shell splits and globs what the model sends for ${name}.`
    return open.has(name) ? [at('raw', index, message, 'Remove :raw if the value is one argument.')] : []
  })
}

const BASH_SYNTAX =
  /(?<![^\s;&|(!])(?:\[\[\s|\(\(|function\s|select\s+\w+\s+in\s|source\s|coproc\s)|<<<|[<>]\(|&>|\|&|;;?&|\$['[]|\$\(\s*<(?![<(])|\w\+?=\(|\$\{!?\w+(?:[[/^,@]|:[\d ])|(?<!\S)[^\s"'{}$]*\{[^\s{}"']*(?:,|\.\.)[^\s{}"']*\}|\$\{?(?:S?RANDOM|SECONDS|PIPESTATUS|FUNCNAME|BASHPID|BASH_\w+|EPOCH(?:SECONDS|REALTIME)|E?UID)\b/
const BASH_COMMAND =
  /^(?:(?:mapfile|readarray|shopt|pushd|popd|let|declare|typeset|builtin|caller|compgen)\b|set .*(?:pipefail|errtrace|functrace)|printf (?:-v|\S*%[q(])|echo -n?en? |read -r?[adeinNstu]|trap .*\b(?:ERR|DEBUG|RETURN)$|(?:\[|test) (?:.* )?(?:==|=~|-v)(?: |$))/

/** Syntax, commands and variables of bash's own. Only the first is named: one change fixes them all. */
function needsBash({ syntax, template, commands, at }: Source): LintFinding[] {
  if (syntax === 'exec') return []
  // What stands in single quotes is not syntax, and may be for bash: bash -c '[[ … ]]'
  const text = template.replace(/'[^'\n]*'/g, (quoted) => `'${' '.repeat(quoted.length - 2)}'`)
  const offsets = commands.flatMap(({ words: [first], shapes }) =>
    first && BASH_COMMAND.test(shapes.join(' ')) ? [first.offset] : [],
  )
  const found = BASH_SYNTAX.exec(text)
  if (found) offsets.push(found.index)
  if (offsets.length === 0) return []
  const message = "This looks like bash's own; sh may be another shell."
  return [at('needs-bash', Math.min(...offsets), message, "Or write command: [bash, -c, '…', --].")]
}

/** Which word of a command holds a program. */
interface Interpreter {
  /** What stands behind this option, attached or as the next word. */
  option?: RegExp
  /** Without such an option: the operand, counted from 0. */
  operand?: number
  /** Options that take words which are not operands, one for each match. */
  takes?: RegExp
}

/** Interpreters that the expander does not know: in `exec:`, too, their programs are only a finding. */
const INTERPRETERS: Readonly<Record<string, Interpreter>> = {
  awk: { option: /^(?:-e|--source(?:=|$))/, operand: 0, takes: /^-[vFfi]$/g },
  sed: { option: /^(?:-[nErsuz]*e|--expression(?:=|$))/, operand: 0, takes: /^-[A-Za-z]*[fl]$/g },
  jq: {
    operand: 0,
    takes: /^--(?=(?:arg|argjson|slurpfile|rawfile)$)|(?<=^--)(?:arg|argjson|slurpfile|rawfile)$|^-L$/g,
  },
  psql: { option: /^(?:-[A-Za-z]*c|--command(?:=|$))/ },
  mysql: { option: /^(?:-[A-Za-z]*e|--execute(?:=|$))/ },
  sqlite3: { operand: 1, takes: /^--?(?:cmd|separator|nullvalue|newline|init)$/g },
}
/** The program stands in a file. */
const FROM_FILE = /^-[a-z]*f$|^--(?:from-)?file/
/** Programs with operands that read what to run from standard input. */
const READS = /^(?:ssh|psql|mysql|sqlite3)$/

const SQL = `Give it type: integer or an enum, or write it in hexadecimal: CAST(X'$(printf %s \${v} | od -An -v -tx1 | tr -d ' \\n')' AS TEXT)`
const HINTS: Readonly<Record<string, string>> = {
  awk: `Hand it over beside it: N=\${n} awk '{ print ENVIRON["N"] }', behind env in exec:.`,
  sed: `Give a number type: integer. For a text sed has no variables; perl has: A=\${a} perl -pe 's/\\Q$ENV{A}\\E/b/', behind env in exec:.`,
  jq: "Hand it over beside it: jq --arg name ${name} '.[$name]'",
  psql: SQL,
  mysql: SQL,
  sqlite3: SQL,
  ssh: `Let the other side read it: printf '%s\\n' \${file} | ssh host 'IFS= read -r file; cat -- "$file"'`,
  python: "Hand it over beside it: python3 -c '… sys.argv[1]' ${value}",
  node: "Hand it over beside it: node -e '… process.argv[1]' ${value}",
  perl: "Hand it over beside it: perl -e '… $ARGV[0]' ${value}",
}
const AS_ARGUMENT = 'Hand it over beside it, as an argument or a variable of the environment.'

/** A value that is a part of a program for `awk`, `sed`, `jq`, `python -c`, `ssh`, SQL: `awk "{ print ${n} }"`. */
function valueInProgram({ commands, code, at }: Source): LintFinding[] {
  return commands.flatMap(({ words, shapes, documents }) => {
    const programs = programWords(shapes)
    const inWords = programs.flatMap(([index, program, isJoined]) => {
      const pieces = words[index]?.pieces ?? []
      // A value that is the whole text is what its author wishes.
      const values = isWholeParameter(pieces) && !isJoined ? [] : pieces.filter(isParameter)
      const value = values.find(({ name }) => code.has(name))
      return value ? [{ ...value, program }] : []
    })
    const read = programs.length === 0 && readsProgram(shapes) ? documents.flatMap(({ found }) => found) : []
    const inDocuments = read
      .filter(({ name }) => code.has(name))
      .map((value) => ({ ...value, program: baseName(shapes[0]) }))
    return [...inWords, ...inDocuments].map(({ offset, program }) => {
      const message = `The value becomes part of a program for ${program}.`
      return at('value-in-program', offset, message, hintFor(program))
    })
  })
}

/** `command: [ssh, host, ls]`: the values that come behind it are joined to a script for a shell. */
function valueBehindCommand({ command, parameters, ...tool }: ExpandedTool): LintFinding[] {
  if (tool.__meta !== undefined || tool.substitute || !parameters.some(mayBeCode)) return []
  const values = parameters.filter(({ inject_as: place }) => place === 'argument').map(() => '\0')
  const shapes = [...command.map((element) => shapeOf(piecesOf(element))), ...values]
  const text = findProgramText(shapes).find(([index, , isJoined]) => isJoined && index >= command.length)
  if (text === undefined) return []
  const message = `The values become part of a program for ${text[1]}.`
  return [{ rule: 'value-in-program', path: 'command', message, hint: hintFor(text[1]) }]
}

/** `command: [sh, -c, 'ls ${CWD}']`: the path stands there before the shell reads the script, so a blank in it makes two words. */
function pathInScript({ command, __meta: origin }: ExpandedTool): LintFinding[] {
  if (origin !== undefined) return []
  const scripts = findProgramText(command).filter(([, program]) => !programOf(program)?.isForeign)
  return scripts.flatMap(([index]) => {
    const template = command[index] ?? ''
    const path = /(?<!\\)\$\{(?:AGENT_HOME|CWD|TOOL_HOME)\}/.exec(template)
    if (path === null) return []
    const message = `The path of ${path[0]} becomes part of a script.`
    const hint = `Hand it over beside it, as an argument: [sh, -c, 'ls "$1"', sh, "${path[0]}"].`
    const place = { path: `command[${index}]`, template, ...placeOf(template, path.index) }
    return [{ rule: 'path-in-script', message, hint, ...place }]
  })
}

/** The words that hold a program. Scripts for a shell of this machine are not among them: there the expander refuses values. */
function programWords(shapes: readonly string[]): ProgramText[] {
  const known = findProgramText(shapes).filter(([, program]) => programOf(program)?.isForeign)
  const isCommand = (index: number) => index === 0 || mayStartAnother(shapes[0])
  const start = shapes.findIndex((shape, index) => isCommand(index) && nameOf(shape) in INTERPRETERS)
  const { option, operand, takes = /(?!)/g } = INTERPRETERS[nameOf(shapes[start])] ?? {}
  const written = shapes.flatMap((shape, index) => {
    const [matched] = (index > start && option?.exec(shape)) || []
    return matched === undefined ? [] : [matched === shape ? index + 1 : index]
  })
  const isElsewhere = written.length > 0 || shapes.some((shape) => FROM_FILE.test(shape))
  if (operand !== undefined && !isElsewhere) written.push(operandIndex(shapes, start, takes, operand))
  const places = written.filter((index) => index < shapes.length)
  return [...known, ...places.map((index): ProgramText => [index, baseName(shapes[start])])]
}

/** `python3 <<E`, `ssh host <<E`, `psql db <<E`: a command without a program runs what it reads. */
function readsProgram([first, ...operands]: readonly string[]): boolean {
  if (READS.test(nameOf(first))) return true
  return programOf(first)?.isForeign === true && operands.every((word) => word.startsWith('-'))
}

/** `/usr/bin/gawk` is an `awk`, `python3.12` a `python`. */
function nameOf(shape = ''): string {
  const name = baseName(shape)
  if (Object.hasOwn(HINTS, name)) return name
  return name.replace(/^[gmn](?=awk$|sed$)|[\d.]+$/, '').replace('mariadb', 'mysql')
}

function hintFor(program: string): string {
  return HINTS[nameOf(program)] ?? AS_ARGUMENT
}

/** The rules about templates, in the order in which their findings are listed. */
const TEMPLATE_RULES = [needsBash, raw, valueInProgram, literalCharacter]
