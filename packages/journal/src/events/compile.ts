import type * as z from 'zod/mini'

type Test = (value: unknown) => boolean

/**
 * Turns a schema into a yes-or-no test of the same meaning.
 *
 * zod builds a copy and a list of issues for each value; reading a long journal
 * needs neither, and costs half without. Only the kinds of schema that events are
 * written in are known here; for any other kind the test asks zod.
 */
export function compileTest(schema: z.core.$ZodType): Test {
  const { def } = (schema as z.core.$ZodTypes)._zod
  if (def.checks?.length) return zodTest(schema)
  switch (def.type) {
    case 'unknown':
      return () => true
    case 'string':
      return (value) => typeof value === 'string'
    case 'boolean':
      return (value) => typeof value === 'boolean'
    case 'number':
      return numberTest(schema)
    case 'literal':
    case 'enum':
      return oneOf(schema)
    case 'optional':
      return orElse(undefined, compileTest(def.innerType))
    case 'nullable':
      return orElse(null, compileTest(def.innerType))
    case 'array':
      return arrayOf(compileTest(def.element))
    case 'object':
      return objectOf(def.shape)
    default:
      return zodTest(schema)
  }
}

function numberTest(schema: z.core.$ZodType): Test {
  const { format } = schema._zod.def as Partial<z.core.$ZodNumberFormatDef>
  if (format === 'safeint') return (value) => Number.isSafeInteger(value)
  return format === undefined ? (value) => Number.isFinite(value) : zodTest(schema)
}

function oneOf(schema: z.core.$ZodType): Test {
  const { values } = schema._zod
  return values ? (value) => values.has(value as z.core.util.Primitive) : zodTest(schema)
}

function orElse(allowed: undefined | null, test: Test): Test {
  return (value) => value === allowed || test(value)
}

function arrayOf(test: Test): Test {
  return (value) => Array.isArray(value) && value.every(test)
}

function objectOf(shape: Record<string, z.core.$ZodType>): Test {
  const keys = Object.keys(shape)
  const tests = keys.map((key) => compileTest(shape[key] as z.core.$ZodType))
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
    for (let index = 0; index < keys.length; index++) {
      const field = (value as Record<string, unknown>)[keys[index] as string]
      if (!(tests[index] as Test)(field)) return false
    }
    return true
  }
}

function zodTest(schema: z.core.$ZodType): Test {
  return (value) => {
    const result = schema._zod.run({ value, issues: [] }, { async: false })
    return !(result instanceof Promise) && result.issues.length === 0
  }
}
