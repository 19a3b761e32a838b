import * as z from 'zod/mini'

const text = z.string().check(z.minLength(1))
const count = z.int().check(z.gte(1))

const conditions = [
  z.strictObject({ when: z.literal('task_contains'), pattern: text }),
  z.strictObject({ when: z.literal('file_exists'), path: text }),
  z.strictObject({ when: z.literal('env_set'), name: text }),
  z.strictObject({ when: z.literal('iteration_at_least'), count }),
] as const

/** When a source is used; without a condition it always is. */
const condition = z.discriminatedUnion('when', conditions)

const common = { id: z.optional(text), max_tokens: z.optional(count), condition: z.optional(condition) }
const header = z.optional(z.union([z.boolean(), text]))
/** Of every source but a journal. */
const block = { role: z.optional(z.enum(['system', 'developer', 'user'])), header, ...common }
const onMissing = z.optional(z.enum(['skip', 'error']))

const command = z.strictObject({
  command: z.array(text).check(z.minLength(1)),
  timeout_ms: z.optional(z.int().check(z.gte(0))),
  pass_env: z.optional(z.array(text)),
})

const file = z.strictObject({ type: z.literal('file'), path: text, on_missing: onMissing, ...block })

const writtenText = z.strictObject({ type: z.literal('text'), text, ...block })

const cache = z.strictObject({
  strategy: z.literal('file_hash'),
  invalidate_on: z.array(text).check(z.minLength(1)),
})

const computedFile = z.strictObject({
  type: z.literal('computed_file'),
  generator: command,
  output_path: text,
  on_missing: onMissing,
  cache: z.optional(cache),
  ...block,
})

const journal = z.strictObject({
  type: z.literal('journal'),
  max_iterations: z.optional(count),
  dropped: z.optional(z.union([z.boolean(), text])),
  ...common,
})

export const sourceSchema = z.discriminatedUnion('type', [file, writtenText, computedFile, journal])

/** `context.yaml`, as it is written. Exported for its JSON Schema; `parseManifest` is what reads a value. */
export const manifestSchema = z.strictObject({
  sources: z.array(sourceSchema).check(z.minLength(1)),
  header,
  merge: z.optional(z.boolean()),
  total_max_tokens: z.optional(count),
  token_counter: z.optional(command),
})

export type WrittenManifest = z.infer<typeof manifestSchema>
export type WrittenSource = WrittenManifest['sources'][number]
/**
 * When a source is sent: if what users said matches a pattern (case does not matter), a file exists (relative to the workspace),
 * an environment variable is not empty, or from the cycle `count` on.
 */
export type Condition = z.infer<typeof condition>

/** Every key of a form, to guess what a mistyped one meant. */
export const KEYS: Record<string, readonly string[]> = {
  '': Object.keys(manifestSchema.shape),
  file: Object.keys(file.shape),
  text: Object.keys(writtenText.shape),
  computed_file: Object.keys(computedFile.shape),
  journal: Object.keys(journal.shape),
  generator: Object.keys(command.shape),
  token_counter: Object.keys(command.shape),
  cache: Object.keys(cache.shape),
  condition: [...new Set(conditions.flatMap(({ shape }) => Object.keys(shape)))],
}
