import { priceRowsSchema } from '@delta/model/internal'
import { effectsSchema } from '@delta/tool-expander/internal'
import * as z from 'zod/mini'
import { limitsSchema } from './limits.js'
import { snapshotsSchema } from './snapshots.js'

const string = (description: string) => z.string().check(z.minLength(1), z.describe(description))
const count = (description: string) => z.int().check(z.gte(1), z.describe(description))
const version = z.union([z.string(), z.number()])

/** An ATIP description imported with settings. */
export const atipImportSchema = z.lazy(() =>
  z.strictObject({
    atip: string(
      'An ATIP (Agent Tool Introspection Protocol) file: JSON that a command printed about itself.',
    ),
    commands: z.optional(z.array(z.string()).check(z.describe('Imports only these of its commands.'))),
    trust: z.optional(z.enum(['native', 'vendor', 'org', 'community', 'user', 'inferred'])),
    prefix: z.optional(string('Prefix of the tool names. Default: the name of the program')),
    effects: z.optional(z.record(z.string(), effectsSchema)),
  }),
)

const importPath = string(
  'A path relative to this file, or npm:<package>/<file>, or npm:<package>@<range>/<file>.',
)
export const importSchema = z.union([importPath, atipImportSchema])

/** Each element is checked when its import is read, so that a wrong one does not hide mistakes in imported files. */
const imports = z.nullable(z.array(z.unknown()))
const tools = z.nullable(z.array(z.unknown()).check(z.describe('Commands that the model may run.')))

/** The two keys of every file that has tools. */
export const listsSchema = z.object({ imports: z.optional(imports), tools: z.optional(tools) })

/** The keys of `agent.yaml` itself. Other packages own the keys under `llm`, `policy` and `tools`. */
export const agentSchema = z.strictObject({
  name: string('Agent name.'),
  version: z.optional(version),
  description: z.optional(z.string().check(z.describe('Purpose of the agent, in a sentence.'))),
  llm: z.optional(z.unknown()),
  system_prompt: z.optional(
    string('The file with the instructions. context.yaml decides whether they are sent.'),
  ),
  ...listsSchema.shape,
  max_iterations: z.optional(count('Iterations after each user message before the run fails. Default: 30')),
  tool_concurrency: z.optional(count('How many tool calls of one response may run side by side. Default: 1')),
  max_tool_calls: z.optional(
    count('How many tool calls of one response run; the rest are refused. Default: 128'),
  ),
  accept_empty: z.optional(
    z
      .boolean()
      .check(
        z.describe(
          'true: a response without text, or with a tool call written as text, completes the run. Default: false, it fails.',
        ),
      ),
  ),
  snapshots: z.optional(snapshotsSchema),
  limits: z.optional(limitsSchema),
  prices: z.optional(priceRowsSchema),
  policy: z.optional(z.unknown()),
})

export type AgentDocument = z.infer<typeof agentSchema>

/** An imported file: tools, and its own imports. */
export const toolFileSchema = z.strictObject({
  ...listsSchema.shape,
  name: z.optional(z.string()),
  version: z.optional(version),
  description: z.optional(z.string()),
  mcp: z.optional(
    z
      .looseObject({})
      .check(
        z.describe(
          'The MCP server whose tools these are; delta mcp import writes it, delta mcp call reads it.',
        ),
      ),
  ),
})

/** What stands in the place of a live connection to an MCP server. */
export const IMPORT_A_SERVER =
  'Import a server once and review what it says: delta mcp import -o x.yaml -- <command>, then imports: [./x.yaml].'
