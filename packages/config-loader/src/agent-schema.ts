import { effectsSchema } from '@delta/executor/internal'
import * as z from 'zod/mini'

const text = (description: string) => z.string().check(z.minLength(1), z.describe(description))
const count = (description: string) => z.int().check(z.gte(1), z.describe(description))
const version = z.union([z.string(), z.number()])

/** An ATIP description imported with settings. */
export const atipImportSchema = z.strictObject({
  atip: text('An ATIP file: JSON that a command printed about itself.'),
  commands: z.optional(z.array(z.string()).check(z.describe('Only these of its commands.'))),
  trust: z.optional(z.enum(['native', 'vendor', 'org', 'community', 'user', 'inferred'])),
  prefix: z.optional(text('How the names of the tools begin, instead of with the name of the program.')),
  effects: z.optional(z.record(z.string(), effectsSchema)),
})

const importPath = text('A path relative to this file, or npm:<package>/<file>.')
export const importSchema = z.union([importPath, atipImportSchema])

/** Each element is checked where it is followed, so that a wrong one does not hide what the others lead to. */
const imports = z.nullable(z.array(z.unknown()))
const tools = z.nullable(z.array(z.unknown()).check(z.describe('Commands that the model may run.')))

/** Where tools come from, in each file that has any. */
export const listsSchema = z.object({ imports: z.optional(imports), tools: z.optional(tools) })

/** The keys of `agent.yaml` itself. What stands under `llm`, `policy` and `tools` belongs to other packages. */
export const agentSchema = z.strictObject({
  name: text('How the agent is called.'),
  version: z.optional(version),
  description: z.optional(z.string().check(z.describe('What it is for, in a sentence.'))),
  llm: z.optional(z.unknown()),
  system_prompt: z.optional(
    text('The file with its instructions; context.yaml decides whether they are sent.'),
  ),
  ...listsSchema.shape,
  max_iterations: z.optional(count('Cycles after each message of the user, before the run fails.')),
  tool_concurrency: z.optional(count('How many calls of one response may run side by side. Default 1.')),
  max_tool_calls: z.optional(count('How many calls of one response run; the rest are refused. Default 128.')),
  accept_empty: z.optional(
    z
      .boolean()
      .check(
        z.describe(
          'true: an answer without text, or with a tool call written as text, completes the run. Default false: it fails.',
        ),
      ),
  ),
  policy: z.optional(z.unknown()),
})

export type AgentDocument = z.infer<typeof agentSchema>

/** A file that is imported: tools, and what they are imported from in turn. */
export const toolFileSchema = z.strictObject({
  ...listsSchema.shape,
  name: z.optional(z.string()),
  version: z.optional(version),
  description: z.optional(z.string()),
})
