import * as z from 'zod/mini'
import { globProblem } from './glob.js'

const text = z.string().check(z.minLength(1))
const count = z.int().check(z.gte(1))
const pattern = text.check(
  z.superRefine((value, context) => {
    try {
      new RegExp(value, 'i')
    } catch (error) {
      context.addIssue((error as Error).message)
    }
  }),
)
const glob = text.check(
  z.superRefine((value, context) => {
    const problem = globProblem(value)
    if (problem !== undefined) context.addIssue(problem)
  }),
)

const condition = z.discriminatedUnion('when', [
  z.strictObject({ when: z.literal('task_contains'), pattern }),
  z.strictObject({ when: z.literal('file_exists'), path: text }),
  z.strictObject({ when: z.literal('env_set'), name: text }),
  z.strictObject({ when: z.literal('iteration_at_least'), count }),
])

const common = {
  id: z.exactOptional(text),
  max_tokens: z.exactOptional(count),
  condition: z.exactOptional(condition),
}
const header = z.exactOptional(z.union([z.boolean(), text], 'true, false or a text with ${id}'))
/** Of every source but a journal. */
const block = { role: z.exactOptional(z.enum(['system', 'developer', 'user'])), header, ...common }
const onMissing = z._default(z.enum(['skip', 'error']), 'error')

const command = z.strictObject({
  command: z.array(text).check(z.minLength(1)),
  timeout_ms: z._default(z.int().check(z.gte(0)), 30_000),
  pass_env: z._default(z.array(text), []),
})

const DROPPED = '[${count} earlier iterations left out]'
const dropped = z.pipe(
  z.union([z.boolean(), text], 'true, false or a text with ${count}'),
  z.transform((written) => (written === true ? DROPPED : written || undefined)),
)

export const sourceSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('file'), path: text, on_missing: onMissing, ...block }),
  z.strictObject({ type: z.literal('text'), text, ...block }),
  z.strictObject({
    type: z.literal('computed_file'),
    generator: command,
    output_path: text,
    on_missing: onMissing,
    cache: z.exactOptional(
      z.strictObject({
        strategy: z.literal('file_hash'),
        invalidate_on: z.array(glob).check(z.minLength(1)),
      }),
    ),
    ...block,
  }),
  z.strictObject({
    type: z.literal('journal'),
    max_iterations: z.exactOptional(count),
    dropped: z.exactOptional(dropped),
    ...common,
  }),
])

/** `context.yaml`, as it is written. Exported for its JSON Schema; `parseManifest` is what reads a value. */
export const manifestSchema = z.strictObject({
  sources: z.array(sourceSchema).check(z.minLength(1)),
  header,
  merge: z.exactOptional(z.boolean()),
  total_max_tokens: z.exactOptional(count),
  token_counter: z.exactOptional(command),
})

/**
 * When a source is sent: if what users said matches a pattern (case does not matter), a file exists (relative to the workspace),
 * an environment variable is not empty, or from the cycle `count` on. Without a condition it always is.
 */
export type Condition = z.infer<typeof condition>
