import { compileExec } from './exec.js'
import { type Excerpt, problemAt } from './problems.js'
import { compileShell } from './shell/compile.js'
import { tokenize } from './tokenize.js'
import type { ExpandedTool } from './tool.js'

export type LintRule =
  | 'no-description'
  | 'command-not-found'
  | 'option-like-values'
  | 'raw'
  | 'environment-name'
  | 'literal-character'
  | 'needs-bash'
  | 'value-in-program'
  | 'script-variable'
  | 'positional'

/** Something a reviewer would ask about a tool that loads. `formatProblem` prints it. */
export interface LintFinding extends Excerpt {
  rule: LintRule
}

export interface LintOptions {
  /** Whether a program exists. Without it, programs are not looked for. */
  commandExists?: (program: string) => boolean
  /** The environment the tool will run in; only its names matter. */
  environment?: Readonly<Record<string, string | undefined>>
}

/** What a reviewer would ask about a tool, in the order of its definition. Nothing here stops it from running. */
export function lintTool(
  tool: ExpandedTool,
  { commandExists, environment = {} }: LintOptions = {},
): LintFinding[] {
  const findings: LintFinding[] = []
  const note = (rule: LintRule, path: string, message: string, hint?: string) => {
    findings.push({ rule, path, message, ...(hint === undefined ? {} : { hint }) })
  }
  if (!tool.description) note('no-description', 'description', 'The model learns only the name of this tool.')
  const program = tool.command[0] ?? ''
  if (commandExists?.(program) === false)
    note('command-not-found', 'command[0]', `${program} is not installed.`)

  tool.parameters.forEach(({ name, description, enum: values, allow_dash, inject_as }, index) => {
    const path = `parameters[${index}]`
    if (!description) note('no-description', path, `The model learns only the name of ${name}.`)
    if (/^[A-Z_]+$/.test(name) && Object.hasOwn(environment, name)) {
      note(
        'environment-name',
        path,
        `${name} is a parameter, and set in the environment.`,
        `Write $${name} in shell:, without braces, for the variable.`,
      )
    }
    if (
      inject_as === 'argument' &&
      values === undefined &&
      allow_dash !== false &&
      !isProtected(tool, name)
    ) {
      note(
        'option-like-values',
        path,
        `A value of ${name} may begin with "-" and be taken for an option.`,
        'Write -- before it, or allow_dash: false.',
      )
    }
  })
  return [...findings, ...lintTemplate(tool)]
}

/** True where the template itself keeps a value from being taken for an option, or checks the finished word. */
function isProtected({ __meta, checked_words = [] }: ExpandedTool, name: string): boolean {
  if (__meta === undefined) return checked_words.some((word) => word.includes(`\${${name}}`))
  const { compiled } = __meta.syntax === 'exec' ? compileExec(__meta.template) : compileShell(__meta.template)
  const inferred = compiled.inferred.find((known) => known.name === name)
  return (
    inferred?.raw === true ||
    inferred?.allowDash === true ||
    checked_words.some((word) => word.includes(`\${${name}}`))
  )
}

function lintTemplate({ __meta }: ExpandedTool): LintFinding[] {
  if (__meta === undefined) return []
  const { syntax, template } = __meta
  const at = (rule: LintRule, offset: number, message: string, hint: string): LintFinding => ({
    rule,
    ...problemAt(offset, template, { path: syntax, message, hint }),
  })
  if (syntax === 'exec') {
    return tokenize(template).literals.map((offset) =>
      at(
        'literal-character',
        offset,
        `${template.charAt(offset)} means nothing special in exec:.`,
        LITERAL_HINT,
      ),
    )
  }
  const { scan } = compileShell(template)
  const bash = BASH_ONLY.exec(template)
  return [
    ...(bash === null
      ? []
      : [
          at(
            'needs-bash',
            bash.index,
            "This looks like bash's own syntax; sh may be another shell.",
            BASH_HINT,
          ),
        ]),
    ...scan.found
      .filter(({ raw }) => raw)
      .map(({ name, offset }) =>
        at('raw', offset, `The shell splits and globs what the model sends for ${name}.`, RAW_HINT),
      ),
    ...scan.remarks.flatMap(({ kind, what, offset }) => {
      if (kind === 'program')
        return at(
          'value-in-program',
          offset,
          `The value becomes part of a program for ${what}.`,
          PROGRAM_HINT,
        )
      if (kind === 'positional')
        return at('positional', offset, `${what} counts the values of this tool.`, 'Write the placeholder.')
      if (!scan.found.some(({ name }) => name === what)) return []
      return at(
        'script-variable',
        offset,
        `The script sets ${what}, but \${${what}} is a parameter.`,
        `Write $${what} for the variable.`,
      )
    }),
  ]
}

const BASH_ONLY =
  /(?<![^\s;&|(!])(?:\[\[\s|\(\(|function\s|select\s|source\s|declare\s|coproc\s)|<<<|[<>]\(|&>|\|&|;;?&|\$['[]|\w\+?=\(|\$\{!?\w+(?:[[/^,@]|:[\d ])/
const LITERAL_HINT = 'Use shell: if it should be expanded, or put it in quotes to say that it should not.'
const RAW_HINT = 'Remove :raw if the value is one argument.'
const BASH_HINT = "Write it for sh, or write command: [bash, -c, '…', --]."
const PROGRAM_HINT = 'Hand it over beside the program: awk -v, jq --arg, sys.argv.'
