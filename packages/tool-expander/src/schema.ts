import * as z from 'zod/mini'
import { problemOf, type ToolProblem } from './problems.js'
import { isEngineVariable } from './template.js'
import type { ToolDefinition } from './tool.js'
import { SCHEMA_WORDS } from './values.js'

let made: ReturnType<typeof makeShapes> | undefined

/** The schemas of a tool and of its parameters, made when the first tool is checked: that takes as long as compiling ten. */
export const toolSchemas = () => (made ??= makeShapes())

function makeShapes() {
  const string = z.string('must be a string')
  const text = z.optional(string)
  const flag = z.optional(z.boolean('must be true or false'))
  const word = string.check(z.regex(/^[^\0]*$/, 'must not contain a NUL character'))
  const words = z.array(word, 'must be a list')
  const WHOLE = 'must be a whole number'
  const NOT_EMPTY = z.minLength(1, 'must not be empty')
  const MAPPING = 'must be a mapping'
  const choice = <const Names extends readonly string[]>(...names: Names) =>
    z.optional(z.enum(names, `must be one of: ${names.join(', ')}`))
  const parameterName = string.check(
    z.regex(/^[A-Za-z_]\w*$/, 'must be letters, digits and _, no digit first'),
    z.refine((name) => !isEngineVariable(name), 'must not be AGENT_HOME, CWD or TOOL_HOME'),
  )
  const toolName = string.check(
    z.regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -'),
    // The engine answers these calls itself.
    z.refine((name) => name !== 'ask_human', 'is reserved by the engine'),
  )
  const unknown = z.optional(z.unknown())
  const limit = z.optional(z.number('must be a number'))
  const names = z.array(string, 'must be a list')
  const enumerated = z.union([z.string(), z.number()], 'must be a string or a number')

  const Parameter = z.looseObject(
    {
      name: parameterName,
      type: choice('string', 'integer', 'number', 'boolean', 'array', 'object'),
      inject_as: choice('argument', 'stdin', 'option', 'json'),
      position: z.optional(z.number(WHOLE).check(z.refine(Number.isInteger, WHOLE))),
      option_name: z.optional(word.check(NOT_EMPTY)),
      description: text,
      required: z.optional(z.union([z.boolean(), names], 'must be true or false, or a list of names')),
      default: unknown,
      enum: z.optional(z.array(enumerated, 'must be a list').check(NOT_EMPTY)),
      pattern: text,
      minimum: limit,
      maximum: limit,
      items: unknown,
      properties: unknown,
      required_properties: z.optional(names),
      allow_dash: flag,
      raw: flag,
      metadata: unknown,
      ...Object.fromEntries(SCHEMA_WORDS.map((word) => [word, unknown])),
    },
    MAPPING,
  )

  const Definition = z.object(
    {
      name: toolName,
      description: text,
      exec: z.optional(word),
      shell: z.optional(word),
      command: z.optional(words.check(NOT_EMPTY)),
      stdin: z.optional(parameterName),
      input_schema: unknown,
      parameters: z.optional(z.array(Parameter, 'must be a list')),
      allow_dash: flag,
      substitute: flag,
      checked_words: z.optional(words),
      __meta: z.optional(
        z.object({ syntax: z.enum(['exec', 'shell']), template: string, stdin: text }, MAPPING),
      ),
    },
    MAPPING,
  )
  return { Parameter, Definition }
}

/** The shape of a tool, or what is wrong with it. */
type Shape =
  | { ok: true; tool: ToolDefinition; rest: Record<string, unknown> }
  | { ok: false; problems: ToolProblem[] }

/** Checks the shape alone: which keys hold what. An empty YAML key (null) counts as absent, as undefined does. */
export function parseShape(input: unknown): Shape {
  const { Definition } = toolSchemas()
  const result = Definition.safeParse(withoutNulls(input), { reportInput: true })
  if (!result.success) return { ok: false, problems: result.error.issues.map(explain) }
  const rest = Object.entries(input as object).filter(([key]) => !Object.hasOwn(Definition.shape, key))
  // Its JSON Schemas are still unknown; they are checked when the tool is compiled.
  return { ok: true, tool: result.data as ToolDefinition, rest: Object.fromEntries(rest) }
}

const VERBATIM = /^(?:default|items|properties|input_schema)$/
const OWN = /^(?:x-|metadata$)/

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  const kept: Record<string, unknown> = { __proto__: null } // a key of that name is a key
  for (const key of Object.keys(value)) {
    const entry = (value as Record<string, unknown>)[key]
    if (OWN.test(key)) kept[key] = entry
    else if (entry !== null && entry !== undefined)
      kept[key] = VERBATIM.test(key) ? entry : withoutNulls(entry)
  }
  return kept
}

const EVERY_AGENT_HAS_IT = 'Every agent has this tool: remove it here, or give yours another name.'

function explain({ path: keys, message, input }: z.core.$ZodIssue): ToolProblem {
  const path = keys.join('.').replace(/\.(\d+)/g, '[$1]')
  if (path === 'stdin' && Array.isArray(input)) {
    const object = input.map((name) => `${JSON.stringify(name)}: …`).join(', ')
    const hint = `For several write stdin: json: the program then reads {${object}} from stdin.`
    return problemOf('ERR_STDIN', path, 'stdin takes one parameter.', hint)
  }
  return problemOf(
    path === 'name' ? 'ERR_TOOL_NAME' : 'ERR_TOOL_SHAPE',
    path,
    `${path || 'A tool'} ${input === undefined ? 'is missing' : message}`,
    path === 'name' && input === 'ask_human' ? EVERY_AGENT_HAS_IT : undefined,
  )
}
