import * as z from 'zod/mini'

/** An ATIP description imported with settings. */
export const atipImportSchema = z.strictObject({
  atip: z.string().check(z.minLength(1)),
  commands: z.optional(z.array(z.string())),
  trust: z.optional(z.enum(['native', 'vendor', 'org', 'community', 'user', 'inferred'])),
  prefix: z.optional(z.string()),
})

export const importSchema = z.union([z.string().check(z.minLength(1)), atipImportSchema])

/** The keys of `agent.yaml` itself. What stands under `llm`, `policy` and `tools` belongs to other packages. */
export const agentSchema = z.strictObject({
  name: z.string().check(z.minLength(1)),
  version: z.optional(z.union([z.string(), z.number()])),
  description: z.optional(z.string()),
  llm: z.optional(z.unknown()),
  system_prompt: z.optional(z.string().check(z.minLength(1))),
  imports: z.optional(z.nullable(z.array(importSchema))),
  tools: z.optional(z.nullable(z.array(z.unknown()))),
  max_iterations: z.optional(z.int().check(z.gte(1))),
  tool_concurrency: z.optional(z.int().check(z.gte(1))),
  policy: z.optional(z.unknown()),
  lifecycle_hooks: z.optional(z.unknown()),
  hooks: z.optional(z.unknown()),
})

export type AgentDocument = z.infer<typeof agentSchema>

/** Keys under which `agent.yaml` may be written; the deprecated ones are not offered as corrections. */
export const AGENT_KEYS = Object.keys(agentSchema.shape).filter(
  (key) => key !== 'lifecycle_hooks' && key !== 'hooks',
)

/** A file that is imported: tools, and what they are imported from in turn. */
export const toolFileSchema = z.strictObject({
  imports: z.optional(z.nullable(z.array(importSchema))),
  tools: z.optional(z.nullable(z.array(z.unknown()))),
  name: z.optional(z.string()),
  version: z.optional(z.union([z.string(), z.number()])),
  description: z.optional(z.string()),
})

export const TOOL_FILE_KEYS = Object.keys(toolFileSchema.shape)
