import { compileExec } from '../exec.js'
import type { Inferred } from '../parameters.js'
import { type Problem, placeOf } from '../problems.js'
import type { CommandWord } from '../programs.js'
import { compileShell } from '../shell/commands.js'
import type { HereDocument, Scan, Word } from '../shell/scan.js'
import type { ExpandedParameter, ExpandedTool } from '../tool.js'
import { wholePattern } from '../values.js'

/** Which rule it breaks: to count findings by, or to leave some out. */
export type LintRule =
  | 'no-description'
  | 'command-not-found'
  | 'option-name'
  | 'stdin-json'
  | 'option-like-values'
  | 'environment-name'
  | 'slow-pattern'
  | 'literal-character'
  | 'foreign-placeholder'
  | 'raw'
  | 'needs-bash'
  | 'never-set'
  | 'script-variable'
  | 'positional'
  | 'program-chosen'
  | 'value-in-program'

/** Something a reviewer would ask about a tool that loads. `formatProblem` prints it. */
export interface LintFinding extends Problem {
  rule: LintRule
}

/** What the author of a tool wrote, compiled once for all rules. */
export interface Source {
  syntax: 'exec' | 'shell'
  template: string
  /** What the template alone says about the parameters. */
  inferred: readonly Inferred[]
  /** Parameters whose values are not listed, and no numbers. */
  open: ReadonlySet<string>
  /** Of these, those whose values may hold code. */
  code: ReadonlySet<string>
  /** The commands of a script; `exec:` is one. */
  commands: readonly Command[]
  /** The placeholders of a script. */
  found: Scan['found']
  /** `$name`, `${name%.txt}` and `$1` of a script, which the shell expands. */
  expanded: Scan['expanded']
  at: (rule: LintRule, offset: number, message: string, hint: string) => LintFinding
}

/** A simple command. */
interface Command {
  words: readonly (CommandWord & { offset?: number })[]
  /** The words, as `shapeOf` gives them. */
  shapes: readonly string[]
  assignments: readonly Word[]
  documents: readonly HereDocument[]
}

/** Undefined for a hand-written `command:`. */
export function sourceOf({ __meta: origin, parameters }: ExpandedTool): Source | undefined {
  if (origin === undefined) return undefined
  const { syntax, template, stdin } = origin
  const namesOf = (some: ExpandedParameter[]) => new Set(some.map(({ name }) => name))
  const [open, code] = [namesOf(parameters.filter(isOpen)), namesOf(parameters.filter(mayBeCode))]
  const at: Source['at'] = (rule, offset, message, hint) => ({
    ...{ rule, path: syntax, message, hint, template },
    ...placeOf(template, offset),
  })
  const common = { syntax, template, open, code, at }
  const withShapes = <C extends Omit<Command, 'shapes'>>(command: C) => ({
    ...command,
    shapes: command.words.map(({ shape }) => shape),
  })
  if (syntax === 'exec') {
    const { words, inferred } = compileExec(template, parameters, stdin)
    const commands = [withShapes({ words, assignments: [], documents: [] })]
    return { ...common, inferred, commands, found: [], expanded: [] }
  }
  const { scan, inferred } = compileShell(template, parameters, stdin)
  const { commands, found, expanded } = scan
  return { ...common, inferred, commands: commands.map(withShapes), found, expanded }
}

function isOpen({ type, enum: values }: ExpandedParameter): boolean {
  return values === undefined && type !== 'integer' && type !== 'number' && type !== 'boolean'
}

/** True for a value by which a text becomes more than a word somewhere: to a shell, `perl`, SQL. */
export function mayBeCode(parameter: ExpandedParameter): boolean {
  const { pattern } = parameter
  if (!isOpen(parameter) || pattern === undefined) return isOpen(parameter)
  const whole = new RegExp(wholePattern(pattern), 'u')
  return [...'$`\'"\\;|&<>(){}[]!/:% \n'].some((mark) =>
    [mark, `a${mark}`, `${mark}a`, `a${mark}a`, `1${mark}1`].some((text) => whole.test(text)),
  )
}
