import { valueBehindCommand, valueInProgram } from './lint/programs.js'
import { type LintFinding, type LintRule, type Source, sourceOf } from './lint/source.js'
import {
  foreignPlaceholder,
  literalCharacter,
  needsBash,
  programChosen,
  raw,
  scriptVariable,
  shellVariable,
} from './lint/template.js'
import { baseName, PASSES_ON, programIndex } from './programs.js'
import type { ExpandedParameter, ExpandedTool } from './tool.js'

export type { LintFinding, LintRule } from './lint/source.js'

/** What `lintTool` may know besides the tool. */
export interface LintOptions {
  /** Whether a program exists; its name may begin with `${AGENT_HOME}`. Without it, programs are not looked for. */
  commandExists?: ((program: string) => boolean) | undefined
  /** The environment the tool will run in; only its names matter. */
  environment?: Readonly<Record<string, string | undefined>> | undefined
}

const BOTH_RULES = [valueInProgram, programChosen, foreignPlaceholder]
const EXEC_RULES = [...BOTH_RULES, literalCharacter]
const SHELL_RULES = [needsBash, raw, ...BOTH_RULES, shellVariable, scriptVariable]

/** What a reviewer would ask about a tool, in the order of its definition. Nothing here stops it from running. */
export function lintTool(tool: ExpandedTool, options: LintOptions = {}): LintFinding[] {
  const source = sourceOf(tool)
  const rules = source?.syntax === 'exec' ? EXEC_RULES : SHELL_RULES
  return [
    ...aboutTool(tool, options),
    ...valueBehindCommand(tool),
    ...tool.parameters.flatMap((parameter, index) => {
      const path = `parameters[${index}]`
      return [...aboutParameter(parameter, path, options), ...optionLikeValues(tool, parameter, path, source)]
    }),
    ...(source ? rules.flatMap((rule) => rule(source)) : []),
  ]
}

function about(rule: LintRule, path: string, message: string, hint?: string): LintFinding {
  return { rule, path, message, ...(hint === undefined ? {} : { hint }) }
}

function aboutTool(
  { name, description, command, stdin, __meta: origin }: ExpandedTool,
  options: LintOptions,
) {
  const [program = ''] = command
  const findings: LintFinding[] = []
  if (!description) findings.push(onlyName('description', name))
  if (options.commandExists?.(program) === false) {
    // Of one that is named by its path, only the path tells where it should be.
    const why = program.includes('/')
      ? 'is not a program that can be started: it is missing, or not executable (chmod +x).'
      : 'is not on the PATH. Install it, or write shell: if the shell does it itself, as with cd.'
    findings.push(about('command-not-found', 'command[0]', `${program} ${why}`))
  }
  if (origin?.stdin === 'json' && stdin !== 'json') {
    const message = 'stdin: json is the value of the parameter json alone, not all arguments as JSON.'
    findings.push(about('stdin-json', 'stdin', message, 'Rename the parameter for that.'))
  }
  return findings
}

function onlyName(path: string, name: string): LintFinding {
  return about('no-description', path, `The model learns of ${name} only its name.`)
}

/**
 * True for a pattern like `(a+)+`, the usual cause of patterns that take years. It does not see a group inside the repeated one
 * (`((a+))+`), alternatives that match the same text (`(a|a)+`), a repeat that also matches the character behind it (`(.*,)*`),
 * repeats next to each other (`a*a*a*`), or references. A group that begins with a punctuation mark, as in `(-[a-z]+)*`, is
 * taken to be harmless.
 */
export function repeatsRepeat(pattern: string): boolean {
  return REPEATED_REPETITION.test(pattern)
}

const REPEATED_REPETITION =
  /\((?:\?:|\?<\w+>|(?!\?))(?:[^()]*\|)?(?!(?:\\[-./]|[-,:;/@ ])(?![*+?{]))(?:\\.|\[(?:\\.|[^\]\\])*\]|[^()[\]\\|])*?(?:[*+]|\{\d+,\d*\})\??(?:(?:\\.|\[(?:\\.|[^\]\\])*\]|[^()[\]\\|*+?{}])[?*]\??)*(?:\|[^()]*)?\)(?:[*+]|\{\d+,)/

function aboutParameter(
  parameter: ExpandedParameter,
  path: string,
  { environment = {} }: LintOptions,
): LintFinding[] {
  const { name, description, inject_as, option_name: option, pattern = '' } = parameter
  const findings: LintFinding[] = []
  if (!description) findings.push(onlyName(path, name))
  if (option !== undefined && inject_as === 'option' && !/^[-+/]/.test(option)) {
    const message = `${option} stands in the command as it is, without dashes.`
    const hint = `Write option_name: ${option.length === 1 ? '-' : '--'}${option}`
    findings.push(about('option-name', `${path}.option_name`, message, hint))
  }
  if (/^[A-Z_]+$/.test(name) && Object.hasOwn(environment, name)) {
    const hint = `Write $${name} in shell:, without braces, for the variable.`
    findings.push(about('environment-name', path, `${name} is a parameter and a set variable.`, hint))
  }
  if (repeatsRepeat(pattern)) {
    const message = 'A repetition inside a repetition can take very long to find that a value does not match.'
    const hint = 'Write one repetition: [ab]+ for (a+|b+)+.'
    findings.push(about('slow-pattern', `${path}.pattern`, message, hint))
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
  if (inject_as !== 'argument' || values !== undefined) return []
  const isInWord = checkedWords.some((word) => word.includes(`\${${name}}`))
  if (allow_dash === false || (allow_dash === undefined && isInWord)) {
    const isText = type === 'string' && (TEXT_NAME.test(name) || /\btexts?\b/i.test(description))
    if (!isText || pattern !== undefined) return []
    const message = `… \${${name}}: a value that begins with "-" (a list item, a diff line) is refused at call time.`
    const hint = 'Use stdin: json, put -- before it, or set allow_dash: true.'
    return [about('option-like-values', source?.syntax ?? path, message, hint)]
  }
  const inferred = source?.inferred.find((known) => known.name === name)
  if (isInWord || inferred?.raw || inferred?.allow_dash) return []
  const program = baseName(command[programIndex(command)])
  const dashes = `Write -- -- before it, since the first is for ${program} itself, or allow_dash: false.`
  const elsewhere = PASSES_ON.has(program) ? dashes : 'Write -- before it, or allow_dash: false.'
  const hint = program === 'find' ? 'Say allow_dash: false; for find, -- protects nothing.' : elsewhere
  const message = `A value of ${name} may begin with "-" and be taken for an option.`
  return [about('option-like-values', path, message, hint)]
}
