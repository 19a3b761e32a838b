import * as z from 'zod/mini'
import type { ToolProblem } from './problems.js'
import { isEngineVariable } from './template.js'

/** Names that tools may not have: the engine answers these calls itself. */
export const RESERVED_TOOL_NAMES: readonly string[] = ['ask_human']

const text = z.optional(z.string())
const flag = z.optional(z.boolean())
const word = z
  .string()
  .check(z.regex(/^[^\0]*$/, 'must not hold a NUL character, which no argument can carry'))
const template = z.optional(word)
const parameterName = z.string().check(
  z.regex(/^[A-Za-z_]\w*$/, 'must be letters, digits and _, no digit first'),
  z.refine(
    (name) => !isEngineVariable(name),
    "must not be AGENT_HOME or CWD, the engine's own, which are never parameters",
  ),
)
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
  option_name: z.optional(word.check(z.minLength(1))),
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
  exec: template,
  shell: template,
  command: z.optional(z.array(word).check(z.minLength(1))),
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

/** A tool that was accepted. */
export interface Parsed {
  ok: true
  tool: ToolDefinition
  /** The keys this package does not know, as they were written. */
  rest: Record<string, unknown>
  /** Keys of parameters that mean nothing, as paths: `parameters[0].tpye`. Keys of the author's own begin with `x-`. */
  unknownKeys: string[]
}

/** A tool that was not, and everything that is wrong with it. */
export interface Refused {
  ok: false
  problems: ToolProblem[]
}

/** Checks the shape alone: which keys hold what. An empty YAML key (null) counts as absent. */
export function parseShape(input: unknown): Parsed | Refused {
  const result = Definition.safeParse(withoutNulls(input))
  if (!result.success) return { ok: false, problems: result.error.issues.map(problemOf) }
  const { data: tool } = result
  const rest = Object.entries(input as object).filter(([key]) => !(key in Definition.shape))
  const unknownKeys = (tool.parameters ?? []).flatMap((entry, index) =>
    Object.keys(entry)
      .filter((key) => !(key in Parameter.shape || key.startsWith('x-')))
      .map((key) => `parameters[${index}].${key}`),
  )
  return { ok: true, tool, rest: Object.fromEntries(rest), unknownKeys }
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
