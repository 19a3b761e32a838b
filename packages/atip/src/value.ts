import { bindArguments, type ExpandedTool } from '@delta/tool-expander'
import type { AtipArgument, AtipOption } from './metadata.js'
import { isRepeated, valueType } from './parameters.js'

/** A value as its parameter's type, or why it is none: a sentence without its subject, `must be a list`. */
export type ReadValue = { ok: true; value: unknown } | { ok: false; reason: string }

/**
 * Checks one value against its parameter, by the rules of `@delta/tool-expander`, and returns it
 * as the type the parameter has: `"8080"` is 8080 for an integer.
 */
export function readValue(parameter: AtipArgument | AtipOption, value: unknown): ReadValue {
  if (isRepeated(parameter)) return readList(parameter, value)
  const bound = bindArguments(oneParameter(parameter), { value }, NO_VARIABLES)
  if (!bound.ok) return { ok: false, reason: bound.reasons.map(reasonOf).join('; ') }
  return { ok: true, value: typed(parameter, bound.argv[0] ?? '') }
}

function readList(parameter: AtipArgument | AtipOption, value: unknown): ReadValue {
  if (!Array.isArray(value)) return { ok: false, reason: 'must be a list' }
  const item = {
    ...parameter,
    variadic: false,
    type: parameter.type === 'array' ? ('string' as const) : parameter.type,
  }
  const items = value.map((one) => readValue(item, one))
  return (
    items.find((one) => !one.ok) ?? { ok: true, value: items.map((one) => (one.ok ? one.value : undefined)) }
  )
}

function typed(parameter: AtipArgument | AtipOption, text: string): unknown {
  const type = valueType(parameter)
  if (type === 'boolean') return text === 'true'
  return type === 'string' ? text : Number(text)
}

/** A tool that is nothing but this parameter, for the expander to judge. */
function oneParameter(parameter: AtipArgument | AtipOption): ExpandedTool {
  const value = {
    name: 'value',
    type: valueType(parameter),
    inject_as: 'argument' as const,
    position: 0,
    required: true,
    ...(parameter.enum && { enum: [...parameter.enum] }),
  }
  return { name: 'value', command: [], parameters: [value] }
}

const NO_VARIABLES = { variables: { AGENT_HOME: '/', CWD: '/' } }

function reasonOf({ message }: { message: string }): string {
  return message.replace(/^"value" /, '').replace(/\.$/, '')
}
