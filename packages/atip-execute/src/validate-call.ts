import {
  type AtipArgument,
  type AtipOption,
  isRepeated,
  isRequired,
  readValue,
  type ToolCall,
  valueType,
} from '@delta/atip'
import type { CommandMapping } from './mapping.js'

/** `INVALID_FORMAT` and `UNKNOWN_PARAMETER` are part of the interface and never given: a parameter too many is a warning. */
export type ValidationErrorCode =
  | 'MISSING_REQUIRED'
  | 'INVALID_TYPE'
  | 'INVALID_ENUM'
  | 'INVALID_FORMAT'
  | 'UNKNOWN_PARAMETER'
  | 'UNKNOWN_COMMAND'

/** One thing wrong with a call. */
export interface ValidationError {
  code: ValidationErrorCode
  /** A sentence for the model that made the call. */
  message: string
  /** Absent when it is about the call as a whole. */
  parameter?: string
  /** What was sent; absent when nothing was. */
  value?: unknown
  /** The type, or the values, that would have been accepted. */
  expected?: string
}

/** `MISSING_OPTIONAL` is part of the interface and never given: an absent optional parameter is no news. */
export type ValidationWarningCode = 'EXTRA_PARAMETER' | 'DEPRECATED_PARAMETER' | 'MISSING_OPTIONAL'

/** Something odd about a call that runs all the same. */
export interface ValidationWarning {
  code: ValidationWarningCode
  message: string
  /** The name of it; every warning that is given has one. */
  parameter?: string
}

/** Whether a call's arguments can be used. */
export interface ValidationResult {
  /** True without errors; warnings do not count. */
  valid: boolean
  /** Every error, in the order of the command's parameters. */
  errors: ValidationError[]
  warnings: ValidationWarning[]
  /** The arguments as their types want them, without extra ones; only when valid. */
  normalizedArgs?: Record<string, unknown>
}

type Parameter = AtipArgument | AtipOption
type Checked = { value: unknown } | { error: ValidationError } | undefined

/**
 * Checks a call's arguments. What a value may be is `@delta/tool-expander`'s decision; this adds
 * what the ATIP interface wants otherwise: no number for a text, extra parameters only warn.
 */
export function validateToolCall(call: ToolCall, mapping: CommandMapping): ValidationResult {
  const given = givenArguments(call)
  if (given === undefined) return { valid: false, errors: [noObject(call)], warnings: [] }
  const parameters = [...(mapping.metadata.arguments ?? []), ...(mapping.metadata.options ?? [])]
  const errors: ValidationError[] = []
  const normalized: [string, unknown][] = []
  for (const parameter of parameters) {
    const checked = checkParameter(parameter, argumentOf(given, parameter.name))
    if (checked && 'error' in checked) errors.push(checked.error)
    else if (checked) normalized.push([parameter.name, checked.value])
  }
  const warnings = [
    ...extraParameters(call.name, given, parameters),
    ...deprecatedParameters(given, parameters),
  ]
  if (errors.length > 0) return { valid: false, errors, warnings }
  return { valid: true, errors, warnings, normalizedArgs: Object.fromEntries(normalized) }
}

/** What a call brings; one without arguments brings none. Undefined: something else than named values. */
export function givenArguments(call: ToolCall): Record<string, unknown> | undefined {
  const given: unknown = call.arguments ?? {} // programs without a type checker leave them out
  return typeof given === 'object' && !Array.isArray(given) ? (given as Record<string, unknown>) : undefined
}

function noObject({ name, arguments: value }: ToolCall): ValidationError {
  const message = `The arguments of ${name} must be one object of names and values.`
  return { code: 'INVALID_TYPE', message, value, expected: 'object' }
}

function argumentOf(args: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(args, name) ? args[name] : undefined
}

/** Undefined: the parameter is absent, and may be. */
function checkParameter(parameter: Parameter, value: unknown): Checked {
  if (value === undefined || (value === null && !isRequired(parameter))) {
    return isRequired(parameter) ? { error: missing(parameter) } : undefined
  }
  if (valueType(parameter) === 'string' && hasNonText(parameter, value))
    return { error: wrong(parameter, value, 'must be a text') }
  const read = readValue(parameter, value)
  return read.ok ? { value: read.value } : { error: wrong(parameter, value, read.reason) }
}

function hasNonText(parameter: Parameter, value: unknown): boolean {
  const values = isRepeated(parameter) && Array.isArray(value) ? value : [value]
  return parameter.enum === undefined && values.some((one) => typeof one !== 'string')
}

function missing({ name }: Parameter): ValidationError {
  return { code: 'MISSING_REQUIRED', message: `"${name}" is required and was not given.`, parameter: name }
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

function extraParameters(
  toolName: string,
  given: Record<string, unknown>,
  parameters: readonly Parameter[],
): ValidationWarning[] {
  return Object.keys(given)
    .filter((name) => !parameters.some((parameter) => parameter.name === name))
    .map((name) => ({
      code: 'EXTRA_PARAMETER',
      message: `"${name}" is not a parameter of ${toolName} and is not passed on.`,
      parameter: name,
    }))
}

function deprecatedParameters(
  given: Record<string, unknown>,
  parameters: readonly Parameter[],
): ValidationWarning[] {
  return parameters
    .filter(({ name, deprecated }) => deprecated === true && argumentOf(given, name) !== undefined)
    .map(({ name }) => ({
      code: 'DEPRECATED_PARAMETER',
      message: `"${name}" is deprecated.`,
      parameter: name,
    }))
}
