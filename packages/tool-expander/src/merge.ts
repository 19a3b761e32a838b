import { defined } from './defined.js'
import type { Inferred } from './inferred.js'
import type { ToolProblem, ToolProblemCode } from './problems.js'
import type { ParameterDefinition } from './schema.js'
import { isEngineVariable } from './template.js'
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
): { parameters: ExpandedParameter[]; problems: ToolProblem[] } {
  const find = <Entry extends { name: string }>(entries: readonly Entry[], wanted: { name: string }) =>
    entries.find(({ name }) => name === wanted.name)
  return {
    parameters: inferred.map((known) => parameterOf(known, find(explicit, known))),
    problems: explicit.flatMap((entry, index) =>
      checkEntry(entry, find(explicit, entry) !== entry, find(inferred, entry), `parameters[${index}]`),
    ),
  }
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
  const compare = (key: string, was: unknown, wanted: unknown, hint: string) => {
    if (wanted === undefined || wanted === was) return
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
  compare('inject_as', known.injectAs, inject_as, `Remove it. For standard input, write stdin: ${name}.`)
  compare('position', known.position, position, 'Remove it; the template decides.')
  if (raw !== undefined && raw !== (known.raw ?? false)) {
    const message = `:raw modifier must be specified in template syntax (\${${name}:raw})`
    refuse('raw', message, 'Remove raw: here.', 'ERR_PARAMETER_OVERRIDE')
  }
  if (type === 'array' && (known.single || known.injectAs === 'stdin')) {
    const hint = 'A list needs a word of its own in exec:, or inject_as: option.'
    refuse('type', `Parameter '${name}' cannot be an array here`, hint)
  }
  if (pattern !== undefined && !isPattern(pattern)) {
    refuse('pattern', `The pattern of '${name}' is not a regular expression: ${pattern}`, 'Correct it.')
  } else if (entry.default !== undefined && entry.default !== '') {
    const reason = complaintAbout(parameterOf(known, entry), entry.default)
    if (reason) refuse('default', `The default of '${name}' ${reason}`, 'Correct it, or the type.')
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
  const { name, injectAs: inject_as, position, allowDash } = known
  const isExempt = inject_as === 'argument' && entry.enum !== undefined
  return defined({
    // First, so that they come first where the tool is printed.
    ...{ name, type: undefined, inject_as, position },
    ...entry,
    type: entry.type ?? 'string',
    inject_as,
    raw: undefined,
    required: entry.required !== false && entry.default === undefined,
    allow_dash: entry.allow_dash ?? (isExempt || allowDash),
  })
}
