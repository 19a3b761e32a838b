import type { AtipArgument, AtipOption, ToolCall } from '@delta/atip'
import { isRepeated, isRequired, valueType } from '@delta/atip/internal'
import { bindArguments, type ExpandedParameter } from '@delta/tool-expander'
import { argumentOf, type CommandMapping } from './command.js'
import type { ValidationError } from './errors.js'

/** `MISSING_OPTIONAL` is part of the interface and never used: an optional parameter may be absent. */
export type ValidationWarningCode = 'EXTRA_PARAMETER' | 'DEPRECATED_PARAMETER' | 'MISSING_OPTIONAL'

/** Something odd about a call that runs all the same. */
export interface ValidationWarning {
  code: ValidationWarningCode
  message: string
  /** Its name; every warning that is given has one. */
  parameter?: string
}

/** Whether a call's arguments can be used. */
export interface ValidationResult {
  /** True without errors; warnings do not count. */
  valid: boolean
  /** Every error, in the order of the command's parameters. */
  errors: ValidationError[]
  warnings: ValidationWarning[]
  /** The arguments converted to their types, without extra ones; only when valid. */
  normalizedArgs?: Record<string, unknown>
}

type Parameter = AtipArgument | AtipOption
type Checked = { value: unknown } | { error: ValidationError } | undefined

/**
 * Checks a call's arguments. `@delta/tool-expander` decides which values are valid; this adds
 * what the ATIP interface wants otherwise: a number is not a string, extra parameters only warn.
 *
 * @example
 * validateToolCall(call, mapping).errors.map(({ message }) => message) // ['"port" must be a whole number.']
 */
export function validateToolCall(call: ToolCall, mapping: CommandMapping): ValidationResult {
  const given = givenArguments(call)
  if (given === undefined) return { valid: false, errors: [notAnObject(call)], warnings: [] }
  const parameters = [...(mapping.metadata.arguments ?? []), ...(mapping.metadata.options ?? [])]
  const errors: ValidationError[] = []
  const normalized: [string, unknown][] = []
  for (const parameter of parameters) {
    const checked = checkParameter(parameter, argumentOf(given, parameter))
    if (checked && 'error' in checked) errors.push(checked.error)
    else if (checked) normalized.push([parameter.name, checked.value])
  }
  const warnings = warningsOf(call.name, given, parameters)
  if (errors.length > 0) return { valid: false, errors, warnings }
  return { valid: true, errors, warnings, normalizedArgs: Object.fromEntries(normalized) }
}

/** The arguments of a call, `{}` if it has none. Undefined: they are not an object. */
export function givenArguments(call: ToolCall): Record<string, unknown> | undefined {
  const given: unknown = call.arguments ?? {} // programs without a type checker leave them out
  return typeof given === 'object' && !Array.isArray(given) ? (given as Record<string, unknown>) : undefined
}

function notAnObject({ name, arguments: value }: ToolCall): ValidationError {
  const message = `The arguments of ${name} must be one object of names and values.`
  return { code: 'INVALID_TYPE', message, value, expected: 'object' }
}

/** Undefined: the parameter is absent, and may be. */
function checkParameter(parameter: Parameter, value: unknown): Checked {
  const { name } = parameter
  if (value === undefined || (value === null && !isRequired(parameter))) {
    const message = `"${name}" is required and was not given.`
    return isRequired(parameter)
      ? { error: { code: 'MISSING_REQUIRED', message, parameter: name } }
      : undefined
  }
  const read = isRepeated(parameter) ? readList(parameter, value) : readValue(parameter, value)
  return read.ok ? read : { error: wrong(parameter, value, read.reason) }
}

/** A value converted to the type of its parameter, or what is wrong with it: `must be a list`. */
type ReadValue = { ok: true; value: unknown } | { ok: false; reason: string }

function readList(parameter: Parameter, value: unknown): ReadValue {
  if (!Array.isArray(value)) return { ok: false, reason: 'must be a list' }
  const items = value.map((item) => readValue(parameter, item))
  const values = items.map((item) => (item.ok ? item.value : undefined))
  return items.find((item) => !item.ok) ?? { ok: true, value: values }
}

/** Binds the value as the only parameter of a tool, so that every value is judged in one place. */
function readValue({ enum: choices, ...parameter }: Parameter, value: unknown): ReadValue {
  const type = valueType({ ...parameter, enum: choices })
  if (type === 'string' && choices === undefined && typeof value !== 'string')
    return { ok: false, reason: 'must be a string' }
  const only: ExpandedParameter = {
    name: 'value',
    type,
    inject_as: 'argument',
    position: 0,
    required: true,
    ...(choices && { enum: [...choices] }),
  }
  const bound = bindArguments({ name: 'value', command: [], parameters: [only] }, { value }, NO_VARIABLES)
  if (!bound.ok)
    return { ok: false, reason: bound.reasons.map(({ message }) => withoutSubject(message)).join('; ') }
  const [text = ''] = bound.argv
  if (type === 'boolean') return { ok: true, value: text === 'true' }
  return { ok: true, value: type === 'string' ? text : Number(text) }
}

const NO_VARIABLES = { variables: { AGENT_HOME: '/', CWD: '/', TOOL_HOME: '/' } }

function withoutSubject(message: string): string {
  return message.replace(/^"value" /, '').replace(/\.$/, '')
}

function wrong(parameter: Parameter, value: unknown, reason: string): ValidationError {
  const { name } = parameter
  const notInEnum = parameter.enum !== undefined && typeof value !== 'object'
  return {
    code: notInEnum ? 'INVALID_ENUM' : 'INVALID_TYPE',
    message: `"${name}" ${reason}.`,
    parameter: name,
    value,
    expected: parameter.enum?.join(', ') ?? (isRepeated(parameter) ? 'array' : valueType(parameter)),
  }
}

function warningsOf(
  toolName: string,
  given: Record<string, unknown>,
  parameters: readonly Parameter[],
): ValidationWarning[] {
  const extra = Object.keys(given).filter((name) => !parameters.some((parameter) => parameter.name === name))
  const deprecated = parameters.filter(
    (parameter) => parameter.deprecated === true && argumentOf(given, parameter) !== undefined,
  )
  return [
    ...extra.map((name) => {
      const message = `"${name}" is not a parameter of ${toolName} and is not passed on.`
      return { code: 'EXTRA_PARAMETER' as const, message, parameter: name }
    }),
    ...deprecated.map(({ name }) => {
      const message = `"${name}" is deprecated.`
      return { code: 'DEPRECATED_PARAMETER' as const, message, parameter: name }
    }),
  ]
}
