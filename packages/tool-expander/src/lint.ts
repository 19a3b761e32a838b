import { type CommandWord, shapeOf } from './command-words.js'
import { compileExec } from './exec.js'
import { baseName, findProgramText, operandIndex, programIndex, SHELLS } from './interpreters.js'
import { isOptional } from './optional.js'
import { type Excerpt, placeAt } from './problems.js'
import { Parameter } from './schema.js'
import { compileShell } from './shell/compile.js'
import { TAKES_NAMES, valuesOf } from './shell/rules.js'
import type { Scan, ScannedCommand, Word } from './shell/scan.js'
import { STANDARD_INPUT, shellIndex } from './shell/scripts.js'
import { beginningOf, isParameter, isWholeParameter, type Part } from './template.js'
import type { ExpandedTool, ToolOrigin } from './tool.js'

/** The keys of a parameter that mean something; others are kept as they are. */
const PARAMETER_KEYS: readonly string[] = Object.keys(Parameter.shape)

export type LintRule =
  | 'no-description'
  | 'command-not-found'
  | 'unknown-key'
  | 'option-like-values'
  | 'environment-name'
  | 'literal-character'
  | 'optional-moves-words'
  | 'raw'
  | 'needs-bash'
  | 'value-in-program'
  | 'program-chosen'
  | 'runs-variable'
  | 'slow-pattern'
  | 'script-variable'
  | 'positional'

/** Something a reviewer would ask about a tool that loads. `formatProblem` prints it. */
export interface LintFinding extends Excerpt {
  rule: LintRule
}

export interface LintOptions {
  /** Whether a program exists; its name may begin with `${AGENT_HOME}`. Without it, programs are not looked for. */
  commandExists?: (program: string) => boolean
  /** The environment the tool will run in; only its names matter. */
  environment?: Readonly<Record<string, string | undefined>>
}

/** What a reviewer would ask about a tool, in the order of its definition. Nothing here stops it from running. */
export function lintTool(tool: ExpandedTool, options: LintOptions = {}): LintFinding[] {
  const { command, description, parameters } = tool
  const [program = ''] = command
  const findings: LintFinding[] = []
  if (!description)
    findings.push(note('no-description', 'description', `The model learns of ${tool.name} only its name.`))
  if (options.commandExists?.(program) === false) {
    findings.push(note('command-not-found', 'command[0]', `${program} is not installed.`))
  }
  findings.push(...parameters.flatMap((_, index) => lintParameter(tool, index, options.environment ?? {})))
  if (tool.__meta?.syntax === 'exec') findings.push(...lintExec(tool, tool.__meta))
  if (tool.__meta?.syntax === 'shell') findings.push(...lintShell(tool.__meta))
  return findings
}

function note(rule: LintRule, path: string, message: string, hint?: string): LintFinding {
  return { rule, path, message, ...(hint === undefined ? {} : { hint }) }
}

function lintParameter(tool: ExpandedTool, index: number, environment: object): LintFinding[] {
  const parameter = tool.parameters[index]
  if (parameter === undefined) return []
  const { name, description, enum: values, allow_dash, inject_as } = parameter
  const path = `parameters[${index}]`
  const findings: LintFinding[] = []
  if (!description) findings.push(note('no-description', path, `The model learns of ${name} only its name.`))
  for (const key of Object.keys(parameter)) {
    if (PARAMETER_KEYS.includes(key) || key.startsWith('x-')) continue
    const nearest = PARAMETER_KEYS.find((known) => isNear(known, key))
    const hint = nearest === undefined ? 'Keys of your own begin with x-.' : `Did you mean ${nearest}?`
    findings.push(note('unknown-key', `${path}.${key}`, `${key} means nothing here.`, hint))
  }
  if (/^[A-Z_]+$/.test(name) && Object.hasOwn(environment, name)) {
    const hint = `Write $${name} in shell:, without braces, for the variable.`
    findings.push(note('environment-name', path, `${name} is a parameter and a set variable.`, hint))
  }
  if (/\((?:[^()\\]|\\.)*(?:[*+]|\{\d+,\d*\})\)(?:[*+]|\{\d+,)/.test(parameter.pattern ?? '')) {
    const message = 'A repetition inside a repetition can take very long to find that a value does not match.'
    findings.push(
      note('slow-pattern', `${path}.pattern`, message, 'Write one repetition: [ab]+ for (a+|b+)+.'),
    )
  }
  if (inject_as === 'argument' && values === undefined && allow_dash !== false && !isProtected(tool, name)) {
    const hint = 'Write -- before it, or allow_dash: false.'
    findings.push(
      note(
        'option-like-values',
        path,
        `A value of ${name} may begin with "-" and be taken for an option.`,
        hint,
      ),
    )
  }
  return findings
}

/** One letter more, less or other, or two letters changed places. */
function isNear(known: string, written: string): boolean {
  let same = 0
  while (same < known.length && known[same] === written[same]) same += 1
  const [a, b] = [known.slice(same), written.slice(same)]
  return (
    a.slice(1) === b || a === b.slice(1) || a.slice(1) === b.slice(1) || `${a[1]}${a[0]}${a.slice(2)}` === b
  )
}

/** True where the template itself keeps a value from being taken for an option, or checks the finished word. */
function isProtected({ __meta, checked_words = [] }: ExpandedTool, name: string): boolean {
  if (checked_words.some((word) => word.includes(`\${${name}}`))) return true
  if (__meta === undefined) return false
  const { inferred } = __meta.syntax === 'exec' ? compileExec(__meta.template) : compileShell(__meta.template)
  return inferred.some((known) => known.name === name && (known.raw || known.allow_dash))
}

function lintExec({ parameters }: ExpandedTool, { template }: ToolOrigin): LintFinding[] {
  const at = noteIn('exec', template)
  const { words } = compileExec(template)
  const moved = words.flatMap(({ pieces }, index) => {
    const name = isWholeParameter(pieces) ? pieces[0].name : undefined
    const isDropped = parameters.some((parameter) => parameter.name === name && isOptional(parameter))
    const operand = words.slice(index + 1).find((word) => /^[^-]/.test(beginningOf(word.pieces)))
    if (name === undefined || !isDropped || operand === undefined) return []
    const message = `Without ${name}, ${operand.pieces.join('')} moves to its place.`
    const hint = `Give ${name} a default, or write it as --option=\${${name}}.`
    return at('optional-moves-words', template.indexOf(`\${${name}}`), message, hint)
  })
  const [chosen] = wrappedProgram(words).filter(isParameter)
  const [program] = GLUED_PROGRAM.exec(baseName(beginningOf(words[0]?.pieces))) ?? []
  const glued = words.flatMap(({ pieces }) => {
    const value = pieces.length > 1 ? pieces.find(isParameter) : undefined
    const isProgram = pieces.some((part) => typeof part === 'string' && /[\s(){}]|^[sy]\W/.test(part))
    return program && value && isProgram
      ? at('value-in-program', value.offset, intoProgram(program), PROGRAM_HINT)
      : []
  })
  const expanded = [...template.matchAll(UNQUOTED)].filter(({ groups }) => groups?.special)
  const literal = expanded.map(({ index: offset }) =>
    at(
      'literal-character',
      offset,
      `${template.charAt(offset)} means nothing special in exec:.`,
      LITERAL_HINT,
    ),
  )
  const chooses = chosen ? [at('program-chosen', chosen.offset, PROGRAM_CHOSEN, CHOSEN_HINT)] : []
  return [...chooses, ...moved, ...glued, ...literal]
}

/** Characters only a shell would expand, behind everything that may hold one and does not count. */
const UNQUOTED = /\\.|"(?:\\.|[^"\\])*"|'[^']*'|\$\{\w+\}|(?<special>[*?[\]~#(){}!])/gs

function noteIn(path: string, template: string) {
  return (rule: LintRule, offset: number, message: string, hint: string): LintFinding => ({
    ...note(rule, path, message, hint),
    ...placeAt(offset, template),
  })
}

function intoProgram(program: string): string {
  return `The value becomes part of a program for ${program}.`
}

function lintShell({ template }: ToolOrigin): LintFinding[] {
  const at = noteIn('shell', template)
  const { scan } = compileShell(template)
  const bash = BASH_ONLY.exec(template)
  return [
    ...(bash
      ? [at('needs-bash', bash.index, "This looks like bash's own; sh may be another shell.", BASH_HINT)]
      : []),
    ...scan.found
      .filter(({ raw }) => raw)
      .map(({ name, offset }) =>
        at('raw', offset, `The shell splits and globs what the model sends for ${name}.`, RAW_HINT),
      ),
    ...scan.commands
      .flatMap(findGlued)
      .map(([program, offset]) => at('value-in-program', offset, intoProgram(program), PROGRAM_HINT)),
    ...scan.commands
      .flatMap(({ words }) => valuesOf(words[programIndex(words.map(shapeOf))]))
      .filter(isParameter)
      .map(({ offset }) => at('program-chosen', offset, PROGRAM_CHOSEN, CHOSEN_HINT)),
    ...(scan.found.length > 0 ? scan.commands : []).flatMap((command) => {
      const offset = [...command.assignments, ...command.words][0]?.offset ?? 0
      return runsWhat(command, template.slice(0, offset), template.slice(offset)).map((message) =>
        at('runs-variable', offset, message, VARIABLE_HINT),
      )
    }),
    ...scan.expanded
      .filter(({ name }) => /^\$[\d@*#]$/.test(name))
      .map(({ name, offset }) =>
        at('positional', offset, `${name} counts the values of this tool.`, 'Write the placeholder.'),
      ),
    ...assignedIn(scan)
      .filter(({ name }) => scan.found.some((found) => found.name === name))
      .map(({ name, offset }) => {
        const message = `The script sets ${name}, but \${${name}} is a parameter.`
        return at('script-variable', offset, message, `Write $${name} for the variable.`)
      }),
  ]
}

/** The variables a script sets itself. */
function assignedIn({ template, commands }: Scan): { name: string; offset: number }[] {
  const loops = [...template.matchAll(LOOP)].map(({ 1: name = '', index: offset }) => ({ name, offset }))
  const words = commands.flatMap(({ assignments, words }) => [
    ...assignments,
    ...(TAKES_NAMES.has(shapeOf(words[0])) ? words.slice(1) : []),
  ])
  const assigned = words.map((word) => ({
    name: /^\w+(?=[[+=])/.exec(shapeOf(word))?.[0] ?? '',
    offset: word.offset,
  }))
  return [...assigned, ...loops]
}

/** What one command of a script runs that the script does not spell out. */
function runsWhat({ words, assignments }: ScannedCommand, before: string, from: string): string[] {
  const shapes = words.map(shapeOf)
  const [name = ''] = shapes
  if (changesNames(shapes, assignments)) return [`${name || 'This'} changes what commands behind it run.`]
  // Its own pipe or redirection was looked at already; what is around it, a group or a function, may feed it, too.
  if (readsInput(shapes) && !/\|&?\s*$/.test(before) && !/^[^\n;|&()]*</.test(from))
    return [`${name} runs what it is fed here, which may hold a value.`]
  const program = programIndex(shapes)
  if (!words[program]?.quoted && PATTERN.test(shapes[program] ?? ''))
    return ['The shell makes a name of this pattern, and runs it.']
  const places =
    name === 'eval' ? [...shapes.keys()] : [program, ...findProgramText(shapes).map(([index]) => index)]
  const isVariable = (index: number) => {
    const shape = index === program ? baseName(shapes[index] ?? '') : shapes[index]
    return shape?.includes('\0') && valuesOf(words[index]).length === 0
  }
  return places.some(isVariable) ? ['The shell runs what it computes here, which may hold a value.'] : []
}

/** Whether a command gives names to commands. */
function changesNames(shapes: readonly string[], assignments: readonly Word[]): boolean {
  const [name = '', ...operands] = shapes
  return (
    name === 'alias' ||
    (name === 'shopt' && operands.includes('expand_aliases')) ||
    (name === 'hash' && operands.some((word) => word.startsWith('-p'))) ||
    assignments.some((word) => /^BASH_(?:ALIASES|CMDS)\b/.test(shapeOf(word)))
  )
}

/** Whether a command starts a shell that reads its script from standard input. */
function readsInput(shapes: readonly string[]): boolean {
  const at = shellIndex(shapes)
  if (at < 0 || findProgramText(shapes).length > 0) return false
  const file = operandIndex(shapes, at)
  return file === shapes.length || shapes.slice(at + 1, file + 1).some((word) => STANDARD_INPUT.test(word))
}

/** Values that become a program, or a part of one, in one command of a script. */
function findGlued({ words, isFed, documents }: ScannedCommand): [program: string, offset: number][] {
  const names = words.map(({ pieces }) => baseName(beginningOf(pieces)))
  const [name = ''] = names
  const runsInput = readsProgram(words, names)
  if (isFed && runsInput) return [[name, words[0]?.offset ?? 0]]
  const read = runsInput ? documents.flatMap(({ found }) => found) : []
  const glued = words.flatMap((word, index) => {
    const program = names.slice(0, index).find((name) => GLUED_PROGRAM.test(name))
    const isProgram = word.quoted && !isWholeParameter(word.pieces) && /[\s(){}\\/]/.test(shapeOf(word))
    return program && isProgram ? valuesOf(word).map(({ offset }): [string, number] => [program, offset]) : []
  })
  return [...glued, ...read.map(({ offset }): [string, number] => [name, offset])]
}

/** Whether a command runs what it reads from a pipe or a here-document. */
function readsProgram(words: readonly Word[], names: readonly string[]): boolean {
  const [name = '', ...operands] = names
  const shapes = words.map(shapeOf)
  const texts = findProgramText(shapes)
  // Behind the destination stands what to run, and then it is that which reads.
  if (name === 'ssh') return !texts.some(([index]) => index === words.length - 1)
  if (name === 'xargs') {
    if (operands.includes('ssh')) return true
    // -I makes what is read part of the script, and a script that is missing is read, too.
    return (
      operands.some((word) => SHELLS.has(word)) &&
      (texts.length < 2 || /[{%]/.test(shapes[texts[1]?.[0] ?? 0] ?? ''))
    )
  }
  if (name === 'parallel' || CLIENT.test(name)) return texts.length === 0
  return READS_PROGRAM.test(name) && operands.every((word) => word.startsWith('-'))
}

/** The word that names the program behind `env`, `sudo` and the like, if there is one of them. */
function wrappedProgram(words: readonly CommandWord[]): readonly (Part | null)[] {
  const index = programIndex(words.map(shapeOf))
  return index > 0 ? (words[index]?.pieces ?? []) : []
}

/** A word the shell makes others of: file names, or the pieces of braces. */
const PATTERN = /[*?]|\[.+\]|\{.*(?:,|\.\.).*\}/
/** Programs that run what they read when they are not told what to run. */
const READS_PROGRAM = /^(?:python[\d.]*|node|perl|ruby|php|bc|at|batch|make|ed)$/
/** Programs that run what they read although they are told a database. */
const CLIENT = /^(?:psql|mysql|sqlite3)$/
/** Programs that run a text given to them as a word. */
const GLUED_PROGRAM = /^(?:[gmn]?awk|g?sed|jq|yq|perl|python[\d.]*|node|ruby|php|ssh)$/
/** Guesses from the text alone: they may lie inside quotes. */
const LOOP = /(?<![^\s;&|(])(?:for|select)\s+(\w+)/g
const BASH_ONLY =
  /(?<![^\s;&|(!])(?:\[\[\s|\(\(|function\s|select\s+\w+\s+in\s|source\s|declare\s|coproc\s)|<<<|[<>]\(|&>|\|&|;;?&|\$['[]|\w\+?=\(|\$\{!?\w+(?:[[/^,@]|:[\d ])/
const LITERAL_HINT = 'Use shell: to expand it, or quotes.'
const RAW_HINT = 'Remove :raw if the value is one argument.'
const BASH_HINT = "Or write command: [bash, -c, '…', --]."
const PROGRAM_CHOSEN = 'A value chooses the program that runs.'
const CHOSEN_HINT = 'Write a tool for each program.'
const VARIABLE_HINT = 'Write the command itself: "$x" is safe as an argument.'
const PROGRAM_HINT = 'Hand it over beside it: awk -v, jq --arg, sys.argv.'
