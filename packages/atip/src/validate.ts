import * as z from 'zod/mini'
import { AtipValidationError } from './errors.js'
import { type AtipTool, toolSchema } from './metadata.js'

const REQUIRED = ['atip', 'name', 'version', 'description'] as const

/** Checks the root of the metadata; its commands are checked where they are walked. */
export function assertTool(input: unknown): asserts input is AtipTool {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new AtipValidationError('ATIP metadata must be one JSON object.', [], input)
  }
  const root: Record<string, unknown> = { ...input }
  for (const field of REQUIRED) {
    if (root[field] === undefined || root[field] === '') {
      throw new AtipValidationError(
        `Missing required field "${field}" in the ATIP metadata.`,
        [field],
        root[field],
      )
    }
  }
  assertNode(toolSchema, input, () => [])
}

/**
 * Returns `node` itself, not a copy, once `schema` accepts it.
 *
 * @throws {AtipValidationError} The first thing the schema refuses, with the path from the root.
 */
export function assertNode<T extends z.ZodMiniType>(
  schema: T,
  node: unknown,
  path: () => string[],
): z.infer<T> {
  const result = z.safeParse(schema, node)
  if (result.success) return node as z.infer<T>

  const issue = result.error.issues[0]
  const inside = issue?.path.map(String) ?? []
  const full = [...path(), ...inside]
  const where = full.length > 0 ? full.join('.') : 'the ATIP metadata'
  throw new AtipValidationError(`${where}: ${issue?.message ?? 'is invalid'}.`, full, valueAt(node, inside))
}

function valueAt(node: unknown, path: string[]): unknown {
  return path.reduce((value: unknown, key) => {
    return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
  }, node)
}
