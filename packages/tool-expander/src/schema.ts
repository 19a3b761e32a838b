import * as z from 'zod/mini'
import type { ToolProblem } from './problems.js'

/** Names that tools may not have: the engine answers these calls itself. */
export const RESERVED_TOOL_NAMES: readonly string[] = ['ask_human']

const text = z.optional(z.string())
const flag = z.optional(z.boolean())
const parameterName = z
  .string()
  .check(z.regex(/^[A-Za-z_]\w*$/, 'must be letters, digits and _, no digit first'))
const toolName = z.string().check(
  z.regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -'),
  z.refine(
    (name) => !RESERVED_TOOL_NAMES.includes(name),
    'is reserved: the engine answers these calls itself',
  ),
)

export const Parameter = z.looseObject({
  name: parameterName,
  type: z.optional(z.enum(['string', 'integer', 'number', 'boolean', 'array'])),
  inject_as: z.optional(z.enum(['argument', 'stdin', 'option'])),
  position: z.optional(z.int()),
  option_name: z.optional(z.string().check(z.minLength(1))),
  description: text,
  required: flag,
  default: z.optional(z.unknown()),
  enum: z.optional(z.array(z.union([z.string(), z.number()])).check(z.minLength(1))),
  pattern: text,
  allow_dash: flag,
  raw: flag,
})

const Definition = z.object({
  name: toolName,
  description: text,
  exec: text,
  shell: text,
  command: z.optional(z.array(z.string()).check(z.minLength(1))),
  stdin: z.optional(parameterName),
  parameters: z.optional(z.array(Parameter)),
  allow_dash: flag,
  substitute: z.optional(z.literal(true)),
  checked_words: z.optional(z.array(z.string())),
  __meta: z.optional(z.object({ syntax: z.enum(['exec', 'shell']), template: z.string(), stdin: text })),
})

/** A tool as its author wrote it: `exec:`, `shell:` or `command:`. What `parseTool` accepted. */
export type ToolDefinition = z.infer<typeof Definition>
/** An entry of `parameters:`, as written. Keys we do not know stay on it. */
export type ParameterDefinition = z.infer<typeof Parameter>

export type ShapeResult =
  | { ok: true; definition: ToolDefinition; rest: Record<string, unknown> }
  | { ok: false; problems: ToolProblem[] }

/** Checks the shape alone: which keys hold what. An empty YAML key (null) counts as absent. */
export function parseShape(input: unknown): ShapeResult {
  const result = Definition.safeParse(withoutNulls(input))
  if (!result.success) return { ok: false, problems: result.error.issues.map(problemOf) }
  const known = Object.keys(Definition.shape)
  const rest = Object.entries(input as object).filter(([key]) => !known.includes(key))
  return { ok: true, definition: result.data, rest: Object.fromEntries(rest) }
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, entry]) => entry !== null)
  return Object.fromEntries(
    entries.map(([key, entry]) => [key, key === 'default' ? entry : withoutNulls(entry)]),
  )
}

function problemOf(issue: z.core.$ZodIssue): ToolProblem {
  const path = issue.path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .slice(1)
  const code = path === 'name' ? 'ERR_TOOL_NAME' : 'ERR_TOOL_SHAPE'
  return { code, path, message: `${path || 'A tool'} ${complaint(issue)}` }
}

function complaint(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return `must be ${KINDS[issue.expected] ?? 'a whole number'}`
  if (issue.code === 'invalid_value') return `must be one of: ${issue.values.join(', ')}`
  if (issue.code === 'invalid_union') return 'must be a text or a number'
  return issue.code === 'too_small' ? 'must not be empty' : issue.message
}

const KINDS: Record<string, string> = {
  string: 'a text',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map, like - name: list_files',
}
