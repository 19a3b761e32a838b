import {
  baseName,
  findProgramText,
  mayStartAnother,
  operandIndex,
  type ProgramText,
  programOf,
  shapeOf,
} from '../programs.js'
import { isParameter, isWholeParameter, textOf } from '../template.js'
import type { ExpandedTool } from '../tool.js'
import { type LintFinding, mayBeCode, type Source } from './source.js'

/** Which word of a command holds a program. */
interface Interpreter {
  /** What stands behind this option, attached or as the next word. */
  option?: RegExp
  /** Without such an option: the operand, counted from 0. */
  operand?: number
  /** Options that take words which are no operands, one for each match. */
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
  psql: "Hand it over beside it, behind -v name=${name}, and write :'name' in a file or a here-document with a quoted delimiter.",
  mysql: SQL,
  sqlite3: SQL,
  ssh: `Let the other side read it: printf '%s\\n' \${file} | ssh host 'IFS= read -r file; cat -- "$file"'`,
  python: "Hand it over beside it: python3 -c '… sys.argv[1]' ${value}",
  node: "Hand it over beside it: node -e '… process.argv[1]' ${value}",
  perl: "Hand it over beside it: perl -e '… $ARGV[0]' ${value}",
  ruby: "Hand it over beside it: ruby -e '… ARGV[0]' ${value}",
  php: "Hand it over beside it: php -r '… $argv[1]' ${value}",
}
const AS_ARGUMENT = 'Hand it over beside it, as an argument or a variable of the environment.'

/** A value that is a part of a program for `awk`, `sed`, `jq`, `python -c`, `ssh`, SQL: `awk "{ print ${n} }"`. */
export function valueInProgram({ commands, code, at }: Source): LintFinding[] {
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

/** `command: [ssh, host, ls]`: the values that come behind it are joined to a text for a shell. */
export function valueBehindCommand({ command, parameters, ...tool }: ExpandedTool): LintFinding[] {
  if (tool.__meta !== undefined || tool.substitute || !parameters.some(mayBeCode)) return []
  const values = parameters.filter(({ inject_as: place }) => place === 'argument').map(() => '\0')
  const shapes = [...command.map((element) => shapeOf(textOf(element))), ...values]
  const text = findProgramText(shapes).find(([index, , isJoined]) => isJoined && index >= command.length)
  if (text === undefined) return []
  const message = `The values become part of a program for ${text[1]}.`
  return [{ rule: 'value-in-program', path: 'command', message, hint: hintFor(text[1]) }]
}

/** The words that hold a program. Scripts for a shell of this machine are not among them: there the expander refuses values. */
function programWords(shapes: readonly string[]): ProgramText[] {
  const known = findProgramText(shapes).filter(([, program]) => programOf(program)?.isForeign)
  const isCommand = (index: number) => index === 0 || mayStartAnother(shapes[0])
  const start = shapes.findIndex((shape, index) => isCommand(index) && nameOf(shape) in INTERPRETERS)
  const { option, operand, takes = /(?!)/g } = INTERPRETERS[nameOf(shapes[start])] ?? {}
  const told = shapes.flatMap((shape, index) => {
    const [written] = (index > start && option?.exec(shape)) || []
    return written === undefined ? [] : [written === shape ? index + 1 : index]
  })
  const isElsewhere = told.length > 0 || shapes.some((shape) => FROM_FILE.test(shape))
  if (operand !== undefined && !isElsewhere) told.push(operandIndex(shapes, start, takes, operand))
  const places = told.filter((index) => index < shapes.length)
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
