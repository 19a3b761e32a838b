import { effectsSchema, TRUST_LEVELS } from '@delta/executor'
import { SCHEMA_WORDS } from '@delta/tool-expander'
import * as z from 'zod/mini'

/**
 * A tool as editors should offer it. What counts is `parseTool` and `parseToolSettings`, which say more than a
 * schema can; a test holds this to the same keys.
 */
const text = (description: string) => z.string().check(z.describe(description))
const flag = (description: string) => z.boolean().check(z.describe(description))
const schema = (description: string) => z.looseObject({}).check(z.describe(description))
const texts = (description: string) => z.array(z.string()).check(z.describe(description))

const parameter = z.object({
  name: z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/)),
  type: z.optional(z.enum(['string', 'integer', 'number', 'boolean', 'array', 'object'])),
  description: z.optional(text('What the model is told about it.')),
  required: z.optional(z.union([z.boolean(), z.array(z.string())])),
  default: z.optional(z.unknown()),
  enum: z.optional(z.array(z.union([z.string(), z.number()]))),
  pattern: z.optional(text('A regular expression that the whole value must match.')),
  minimum: z.optional(z.number()),
  maximum: z.optional(z.number()),
  items: z.optional(schema('Of an array: what each of its values is, as JSON Schema. Default: a string')),
  properties: z.optional(schema('Of an object: its properties, each as JSON Schema.')),
  required_properties: z.optional(texts('The list of required, where the object itself is optional.')),
  allow_dash: z.optional(flag('Let values begin with "-".')),
  inject_as: z.optional(z.enum(['argument', 'stdin', 'option', 'json'])),
  position: z.optional(z.int()),
  option_name: z.optional(text('With inject_as: option, the flag, as in --port.')),
  ...Object.fromEntries(SCHEMA_WORDS.map((word) => [word, z.optional(z.unknown())])),
})

const output = z.object({
  max_chars: z.optional(z.int().check(z.gte(1), z.describe('How much the model sees. Default 30000.'))),
  keep: z.optional(z.enum(['head', 'tail', 'both'])),
  max_bytes: z.optional(z.int().check(z.gte(0))),
})
const sandbox = z.union([
  z.boolean(),
  z.object({
    network: z.optional(z.boolean()),
    write: z.optional(z.array(z.string())),
    read: z.optional(z.array(z.string())),
  }),
])

export const toolEditorSchema = z
  .object({
    name: z.string().check(z.regex(/^[A-Za-z0-9_-]{1,64}$/)),
    description: z.optional(text('What the model is told about it.')),
    exec: z.optional(text('A command without a shell; ${name} is a parameter.')),
    shell: z.optional(text('A shell script; ${name} is a parameter, and passed safely quoted.')),
    command: z.optional(texts('The program and its arguments; parameters are appended.')),
    stdin: z.optional(
      text('The parameter whose value goes to standard input; json: all arguments, as one JSON object.'),
    ),
    input_schema: z.optional(
      schema('With stdin: json, JSON Schema of the arguments. Instead of parameters.'),
    ),
    parameters: z.optional(z.array(parameter)),
    allow_dash: z.optional(flag('Let values begin with "-".')),
    display: z.optional(
      text(
        'What people see of a call instead of its command, as in edit ${path}. Approvals and -v show the command.',
      ),
    ),
    timeout_ms: z.optional(z.int().check(z.gte(0), z.describe('Default 600000; 0 for no limit.'))),
    cwd: z.optional(text('Where it runs, relative to the workspace.')),
    env: z.optional(z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]))),
    pass_env: z.optional(texts('Engine credentials it may see, by name.')),
    effects: z.optional(effectsSchema),
    trust: z.optional(z.enum(TRUST_LEVELS)),
    on_interrupt: z.optional(
      z
        .enum(['report', 'rerun', 'ask'])
        .check(
          z.describe(
            'What continue does with a call that was running when its run was stopped or crashed: tell the model that its outcome is unknown (default), run it again, or ask.',
          ),
        ),
    ),
    critical: z.optional(flag('Once it has run, a result other than SUCCESS ends the run.')),
    sandbox: z.optional(sandbox),
    output: z.optional(output),
  })
  .check(z.meta({ oneOf: ['exec', 'shell', 'command'].map((mode) => ({ required: [mode] })) }))
