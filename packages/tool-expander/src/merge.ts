import type { Inferred } from './inferred.js'
import type { ToolProblem } from './problems.js'
import type { ParameterDefinition } from './schema.js'
import type { ExpandedParameter } from './tool.js'

/**
 * Lays the explicit `parameters:` over what the template says.
 *
 * How a value is injected is the template's word alone; the explicit entry adds meaning: description, type, default.
 */
export function mergeParameters(
  inferred: readonly Inferred[],
  explicit: readonly ParameterDefinition[],
): { parameters: ExpandedParameter[]; problems: ToolProblem[] } {
  const problems: ToolProblem[] = []
  explicit.forEach((entry, index) => {
    const known = inferred.find(({ name }) => name === entry.name)
    problems.push(
      ...(known === undefined ? [notInTemplate(entry, index)] : contradictions(entry, known, index)),
    )
  })
  const parameters = inferred.map((known) =>
    parameterOf(
      known,
      explicit.find(({ name }) => name === known.name),
    ),
  )
  return { parameters, problems }
}

function notInTemplate({ name, inject_as }: ParameterDefinition, index: number): ToolProblem {
  const ways = {
    stdin: ` Or declare stdin: ${name}.`,
    option: ' Options belong to tools written with command:.',
    argument: '',
  }
  return {
    code: 'ERR_PARAMETER_UNKNOWN',
    path: `parameters[${index}].name`,
    message: `Parameter '${name}' not found in template`,
    hint: `Write \${${name}} where its value belongs.${ways[inject_as ?? 'argument']}`,
  }
}

function contradictions(entry: ParameterDefinition, known: Inferred, index: number): ToolProblem[] {
  const problems: ToolProblem[] = []
  const refuse = (key: string, message: string, hint: string) => {
    problems.push({ code: 'ERR_PARAMETER_OVERRIDE', path: `parameters[${index}].${key}`, message, hint })
  }
  const { name, inject_as, position, raw } = entry
  if (inject_as !== undefined && inject_as !== known.injectAs) {
    const message = `Cannot override inject_as for parameter '${name}' (inferred: ${known.injectAs}, explicit: ${inject_as})`
    refuse('inject_as', message, `Remove inject_as. To send ${name} to standard input, write stdin: ${name}.`)
  }
  if (position !== undefined && position !== known.position) {
    const message = `Cannot override position for parameter '${name}' (inferred: ${known.position ?? 'none'}, explicit: ${position})`
    refuse('position', message, 'Remove position; the order in the template decides.')
  }
  if (raw !== undefined && raw !== known.raw) {
    const message = `:raw modifier must be specified in template syntax (\${${name}:raw})`
    refuse('raw', message, 'Remove raw: from the parameter.')
  }
  return problems
}

function parameterOf(known: Inferred, entry: ParameterDefinition | undefined): ExpandedParameter {
  const { raw: _raw, ...metadata } = entry ?? { name: known.name }
  const allowDash = entry?.allow_dash ?? (entry?.enum !== undefined ? true : known.allowDash)
  return {
    ...(metadata as Partial<ExpandedParameter>),
    name: known.name,
    type: entry?.type ?? 'string',
    inject_as: known.injectAs,
    ...(known.position === undefined ? {} : { position: known.position }),
    required: (entry?.required ?? true) && entry?.default === undefined,
    ...(known.injectAs === 'argument' && allowDash !== undefined ? { allow_dash: allowDash } : {}),
  }
}
