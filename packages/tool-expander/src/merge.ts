import { looksLikeOption } from './dash.js'
import { defined } from './defined.js'
import type { Inferred } from './inferred.js'
import { problemOf, type ToolProblem } from './problems.js'
import type { ParameterDefinition } from './schema.js'
import type { ExpandedParameter } from './tool.js'
import { complaintAbout, wholePattern } from './values.js'

/**
 * Lays the explicit `parameters:` over what the template says.
 *
 * How a value is injected is the template's word alone; the explicit entry adds meaning: description, type, default.
 */
export function mergeParameters(
  inferred: readonly Inferred[],
  explicit: readonly ParameterDefinition[],
  allowDash: boolean | undefined,
): { parameters: ExpandedParameter[]; problems: ToolProblem[] } {
  const find = <Entry extends { name: string }>(entries: readonly Entry[], wanted: { name: string }) =>
    entries.find(({ name }) => name === wanted.name)
  const parameters = inferred.map((known) => parameterOf(known, find(explicit, known), allowDash))
  const problems = explicit.flatMap((entry, index) => {
    const path = `parameters[${index}]`
    const known = find(inferred, entry)
    const parameter = find(parameters, entry)
    if (known && parameter) return checkEntry(entry, known, parameter, find(explicit, entry) !== entry, path)
    const message = `Parameter '${entry.name}' not found in template`
    return [problemOf('ERR_PARAMETER_UNKNOWN', `${path}.name`, message)]
  })
  return { parameters, problems }
}

function checkEntry(
  entry: ParameterDefinition,
  known: Inferred,
  parameter: ExpandedParameter,
  isRepeated: boolean,
  path: string,
): ToolProblem[] {
  const { name, raw, type, pattern, default: value } = entry
  // What nobody infers, as in a hand-written command:, is not checked unless it says so.
  const passes = (parameter.allow_dash ?? !('allow_dash' in known)) || type === 'number'
  const problems: ToolProblem[] = []
  const refuse = (key: string, message: string, hint?: string) => {
    problems.push(problemOf('ERR_PARAMETER', `${path}.${key}`, message, hint))
  }
  const override = (key: string, message: string) => {
    problems.push(problemOf('ERR_PARAMETER_OVERRIDE', `${path}.${key}`, message))
  }
  for (const key of ['inject_as', 'position'] as const) {
    const { [key]: was } = known
    const { [key]: wanted = was } = entry
    if (wanted !== was)
      override(key, `Cannot override ${key} for parameter '${name}' (inferred: ${was}, explicit: ${wanted})`)
  }
  if (raw !== undefined && raw !== (known.raw ?? false))
    override('raw', `:raw modifier must be specified in template syntax (\${${name}:raw})`)
  if (isRepeated) refuse('name', `Parameter '${name}' is defined twice`, 'Keep one of them.')
  if (type === 'array' && (known.single || known.inject_as === 'stdin')) {
    const hint = 'A list needs a word of its own in exec:, or inject_as: option.'
    refuse('type', `Parameter '${name}' cannot be an array here`, hint)
  }
  const isMatchable = parameter.pattern === undefined || isPattern(parameter.pattern)
  if (pattern !== undefined && !isMatchable)
    refuse('pattern', `The pattern of '${name}' is not a regular expression: ${pattern}`)
  else if (isMatchable && value !== undefined && value !== '') {
    const reason = complaintAbout(parameter, value)
    if (reason) refuse('default', `The default of '${name}' ${reason}`)
    else if (!passes && [value].flat().some((item) => looksLikeOption(String(item)))) {
      const message = `The default of '${name}' begins with "-", which the command could take for an option`
      refuse('default', message, 'Say allow_dash: true for it, or write -- before it.')
    }
  }
  return problems
}

function isPattern(pattern: string): boolean {
  try {
    return wholePattern(pattern) !== undefined
  } catch {
    return false // a SyntaxError, the only thing RegExp throws
  }
}

function parameterOf(
  known: Inferred,
  entry: Partial<ParameterDefinition> = {},
  allowDash?: boolean,
): ExpandedParameter {
  const { inject_as } = known
  const isExempt = inject_as === 'argument' && (allowDash || entry.enum !== undefined)
  return defined({
    // First, so that they come first where the tool is printed.
    ...{ name: known.name, type: undefined, inject_as, position: known.position },
    ...entry,
    type: entry.type ?? 'string',
    inject_as,
    raw: undefined,
    required: entry.required !== false && entry.default === undefined,
    allow_dash: entry.allow_dash ?? (isExempt || known.allow_dash),
  })
}
