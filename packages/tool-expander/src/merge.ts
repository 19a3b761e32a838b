import { defined } from './defined.js'
import type { Inferred } from './inferred.js'
import type { ToolProblem, ToolProblemCode } from './problems.js'
import { PARAMETER_KEYS, type ParameterDefinition } from './schema.js'
import { isEngineVariable } from './template.js'
import type { ExpandedParameter } from './tool.js'
import { renderValue, wholePattern } from './values.js'

/**
 * Lays the explicit `parameters:` over what the template says.
 *
 * How a value is injected is the template's word alone; the explicit entry adds meaning: description, type, default.
 */
export function mergeParameters(
  inferred: readonly Inferred[],
  explicit: readonly ParameterDefinition[],
): { parameters: ExpandedParameter[]; problems: ToolProblem[] } {
  const problems = explicit.flatMap((entry, index) => {
    const isRepeated = explicit.findIndex(({ name }) => name === entry.name) < index
    const known = inferred.find(({ name }) => name === entry.name)
    return checkEntry(entry, isRepeated, known, `parameters[${index}]`)
  })
  const parameters = inferred.map((known) => {
    const entry = explicit.find(({ name }) => name === known.name)
    return parameterOf(known, entry)
  })
  return { parameters, problems }
}

function checkEntry(
  entry: ParameterDefinition,
  isRepeated: boolean,
  known: Inferred | undefined,
  path: string,
): ToolProblem[] {
  const { name, inject_as, position, raw, type, pattern } = entry
  const problems: ToolProblem[] = []
  const refuse = (key: string, message: string, hint: string, code: ToolProblemCode = 'ERR_PARAMETER') => {
    problems.push({ code, path: `${path}.${key}`, message, hint })
  }
  const override = (key: string, was: unknown, wanted: unknown, hint: string) => {
    const message = `Cannot override ${key} for parameter '${name}' (inferred: ${was}, explicit: ${wanted})`
    refuse(key, message, hint, 'ERR_PARAMETER_OVERRIDE')
  }
  if (isRepeated) refuse('name', `Parameter '${name}' is defined twice`, 'Keep one of them.')
  if (isEngineVariable(name))
    refuse('name', `${name} is the engine's own and never a parameter`, 'Choose another name.')
  if (known === undefined) {
    const hint = `Write \${${name}} where it belongs, stdin: ${name}, or use command: with inject_as: option.`
    refuse('name', `Parameter '${name}' not found in template`, hint, 'ERR_PARAMETER_UNKNOWN')
    return problems
  }
  if (inject_as !== undefined && inject_as !== known.injectAs) {
    override('inject_as', known.injectAs, inject_as, `Remove it. For standard input, write stdin: ${name}.`)
  }
  if (position !== undefined && position !== known.position) {
    override('position', known.position, position, 'Remove it; the template decides.')
  }
  if (raw !== undefined && raw !== (known.raw ?? false)) {
    const message = `:raw modifier must be specified in template syntax (\${${name}:raw})`
    refuse('raw', message, 'Remove raw: here.', 'ERR_PARAMETER_OVERRIDE')
  }
  if (type === 'array' && (known.single || known.injectAs === 'stdin')) {
    refuse(
      'type',
      `Parameter '${name}' cannot be an array here`,
      'A list needs a word of its own in exec:, or inject_as: option.',
    )
  }
  if (pattern !== undefined && !isPattern(pattern)) {
    refuse('pattern', `The pattern of '${name}' is not a regular expression: ${pattern}`, 'Correct it.')
  } else if (entry.default !== undefined && entry.default !== '') {
    const rendered = renderValue(parameterOf(known, entry), entry.default)
    if (!rendered.ok)
      refuse('default', `The default of '${name}' ${rendered.reason}`, 'Correct it, or the type.')
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

function parameterOf(known: Inferred, entry: Partial<ParameterDefinition> = {}): ExpandedParameter {
  const { type = 'string', option_name, description, required, default: value, enum: values, pattern } = entry
  const isExempt = known.injectAs === 'argument' && values !== undefined
  const parameter: ExpandedParameter = defined({
    name: known.name,
    type,
    inject_as: known.injectAs,
    position: known.position,
    option_name,
    description,
    required: required !== false && value === undefined,
    default: value,
    enum: values,
    pattern,
    allow_dash: entry.allow_dash ?? (isExempt || known.allowDash),
  })
  for (const key in entry) if (!PARAMETER_KEYS.includes(key)) Object.assign(parameter, { [key]: entry[key] })
  return parameter
}
