import * as z from 'zod/mini'
import type { ToolProblem } from './problems.js'

/** Names that tools may not have: the engine answers these calls itself. */
export const RESERVED_TOOL_NAMES: readonly string[] = ['ask_human']

const text = (what: string) => z.string({ error: `${what} must be a text` })
const flag = (what: string) => z.boolean({ error: `${what} must be true or false` })

const Parameter = z.looseObject(
  {
    name: text('name').check(
      z.regex(
        /^[A-Za-z_][A-Za-z0-9_]*$/,
        'Parameter names are letters, digits and _, not beginning with a digit',
      ),
    ),
    type: z.optional(
      z.enum(['string', 'integer', 'number', 'boolean', 'array'], {
        error: 'type must be one of: string, integer, number, boolean, array',
      }),
    ),
    inject_as: z.optional(
      z.enum(['argument', 'stdin', 'option'], { error: 'inject_as must be one of: argument, stdin, option' }),
    ),
    position: z.optional(z.int({ error: 'position must be a whole number' })),
    option_name: z.optional(text('option_name').check(z.minLength(1, 'option_name must not be empty'))),
    description: z.optional(text('description')),
    required: z.optional(flag('required')),
    default: z.optional(z.unknown()),
    enum: z.optional(
      z
        .array(z.union([z.string(), z.number()]), { error: 'enum must be a list of texts or numbers' })
        .check(z.minLength(1, 'enum must not be empty')),
    ),
    pattern: z.optional(text('pattern')),
    allow_dash: z.optional(flag('allow_dash')),
    raw: z.optional(flag('raw')),
  },
  { error: 'A parameter is written as a map: - name: file' },
)

const Meta = z.object({
  syntax: z.enum(['exec', 'shell'], { error: '__meta.syntax must be exec or shell' }),
  template: text('__meta.template'),
  stdin: z.optional(text('__meta.stdin')),
})

const Definition = z.object({
  name: text('name').check(
    z.regex(/^[A-Za-z0-9_-]{1,64}$/, 'Tool names are 1 to 64 letters, digits, _ or -'),
    z.refine(
      (name) => !RESERVED_TOOL_NAMES.includes(name),
      'This name is reserved: the engine answers it itself',
    ),
  ),
  description: z.optional(text('description')),
  exec: z.optional(text('exec')),
  shell: z.optional(text('shell')),
  command: z.optional(
    z
      .array(text('Every element of command'), { error: 'command must be a list: [grep, -r]' })
      .check(z.minLength(1, 'command must not be empty')),
  ),
  stdin: z.optional(
    text('stdin').check(z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'stdin: takes the name of a parameter')),
  ),
  parameters: z.optional(z.array(Parameter, { error: 'parameters must be a list' })),
  allow_dash: z.optional(flag('allow_dash')),
  substitute: z.optional(z.literal(true, { error: 'substitute can only be true' })),
  checked_words: z.optional(
    z.array(text('Every element of checked_words'), { error: 'checked_words must be a list' }),
  ),
  __meta: z.optional(Meta),
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
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, entry]) =>
      entry === null ? [] : [[key, key === 'default' ? entry : withoutNulls(entry)]],
    ),
  )
}

function problemOf(issue: z.core.$ZodIssue): ToolProblem {
  const path = issue.path.reduce<string>(
    (before, key) =>
      typeof key === 'number'
        ? `${before}[${key}]`
        : before === ''
          ? String(key)
          : `${before}.${String(key)}`,
    '',
  )
  if (path === '')
    return { code: 'ERR_TOOL_SHAPE', path, message: 'A tool is written as a map: - name: list_files' }
  const missing = issue.code === 'invalid_type' && issue.input === undefined && path.endsWith('name')
  const message = missing ? `${path} is missing` : issue.message
  return { code: path === 'name' ? 'ERR_TOOL_NAME' : 'ERR_TOOL_SHAPE', path, message }
}
