import type { ParameterDefinition } from './definition.js'
import type { Inferred } from './inferred.js'
import { faultsOf } from './nested.js'
import { problemOf, type ToolProblem } from './problems.js'
import type { JsonSchemaProperty, ParameterType } from './tool.js'

type Schema = Readonly<Record<string, unknown>>

/** What is wrong with an `input_schema`, seen beside the parameters of its tool. */
export function checkInputSchema(schema: Schema, parameters: readonly Inferred[]): ToolProblem[] {
  const faults = faultsOf(schema)
  if (schema.type !== 'object') faults.push({ path: ['type'], message: 'must be object' })
  const problems = faults.map(({ path, message }) => {
    const key = ['input_schema', ...path].join('.')
    return problemOf('ERR_TOOL_SHAPE', key, `${key} ${message}`)
  })
  if (faults.length > 0) return problems
  for (const { name, inject_as } of parameters) {
    if (inject_as === 'json') {
      const message = 'input_schema stands instead of parameters'
      problems.push(problemOf('ERR_PARAMETER', 'parameters', message, `Put ${name} into input_schema.`))
    } else if (propertyOf(schema, name) === undefined) {
      const message = `\${${name}} is not among the properties of input_schema`
      problems.push(problemOf('ERR_PARAMETER', 'input_schema.properties', message, 'Add it there.'))
    }
  }
  return problems
}

/** What a schema says of the parameters that stand in the command, too. `explicit` says more. */
export function parametersOf(
  schema: Schema,
  placed: readonly Inferred[],
  explicit: readonly ParameterDefinition[],
): ParameterDefinition[] {
  const required = schema.required as string[] | undefined
  return placed.map(({ name }) => {
    const { type, items = {}, enum: allowed } = propertyOf(schema, name) ?? {}
    const isPlain = allowed?.every((each) => /string|number/.test(typeof each))
    return {
      name,
      type: /^(?:integer|number|boolean|array|object)$/.test(String(type))
        ? (type as ParameterType)
        : 'string',
      required: required?.includes(name) === true,
      ...(type === 'array' && { items }),
      ...(isPlain && { enum: allowed as string[] }),
      ...explicit.find((entry) => entry.name === name),
    }
  })
}

function propertyOf(schema: Schema, name: string): JsonSchemaProperty | undefined {
  const { properties } = schema as JsonSchemaProperty
  return properties && Object.hasOwn(properties, name) ? Object(properties[name]) : undefined
}
