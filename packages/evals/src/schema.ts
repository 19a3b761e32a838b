import { snapshotsSchema } from '@delta/config-loader/internal'
import { timeInWords } from '@delta/model/internal'
import * as z from 'zod/mini'

const TIME = /^\d+(\.\d+)?[smh]$/

const text = z.string().check(z.minLength(1))
const time = z.string().check(
  z.refine((value) => TIME.test(value) && timeInWords(value) > 0, {
    error: ({ input }) => `must be a time like 90s, 30m or 1h, got ${JSON.stringify(input)}`,
  }),
  z.meta({ pattern: TIME.source }),
)
const count = z.int().check(z.gt(0, 'above 0'))
const name = z
  .string()
  .check(z.regex(/^[A-Za-z0-9_][\w.+-]*$/, 'must be a name of letters, digits and . _ - +'))

const limits = z.strictObject({
  wall_time: z.optional(time),
  tokens: z.optional(count),
  cost: z.optional(z.number().check(z.gt(0, 'above 0'))),
  iterations: z.optional(
    z.unknown().check(
      z.refine(() => false, {
        error: ({ input }) => `iterations belong to a variant: set: { max_iterations: ${String(input)} }`,
      }),
    ),
  ),
})

const editorLimits = z.omit(limits, { iterations: true })

const metadata = z.record(z.string(), z.unknown())

const inlineTask = z.strictObject({
  id: z.optional(name),
  instruction: z.optional(text),
  workspace: z.optional(text),
  tests: z.optional(text),
  solution: z.optional(text),
  fork: z.optional(text),
  at: z.optional(z.int().check(z.gte(0))),
  limits: z.optional(limits),
  metadata: z.optional(metadata),
})

const partialVariant = z.strictObject({
  agent: z.optional(text),
  model: z.optional(text),
  set: z.optional(z.record(z.string(), z.unknown())),
})

const scorer = z.strictObject({
  take: z.optional(z.array(text)),
  files: z.optional(z.array(text)),
  command: z.optional(z.union([text, z.array(text).check(z.minLength(1))], 'a string or a list of strings')),
  result: z.optional(z.enum(['exit', 'stdout', 'file'])),
  pass: z.optional(z.array(z.int())),
  fail: z.optional(z.array(z.int())),
  equals: z.optional(z.union([z.string(), z.strictObject({ tests: text })], 'a string or { tests: FILE }')),
  matches: z.optional(text),
  file: z.optional(text),
  timeout: z.optional(time),
  on_timeout: z.optional(z.union([z.literal('infra'), z.literal(0)], 'infra or 0')),
})

const taskEntry = z.union([text, inlineTask], 'a path or a task')

function schemaWith<Score extends z.ZodMiniType>(score: Score) {
  return z.strictObject({
    name: z.optional(name),
    tasks: z.union([text, z.array(taskEntry)], 'a path, or a list of paths and tasks'),
    variants: z.optional(z.record(name, partialVariant)),
    matrix: z.optional(z.record(name, z.record(name, partialVariant))),
    exclude: z.optional(z.array(text)),
    baseline: z.optional(text),
    repeats: z.optional(count),
    seed: z.optional(z.int().check(z.gte(0))),
    concurrency: z.optional(count),
    limits: z.optional(limits),
    provider_wait: z.optional(time),
    setup: z.optional(text),
    score: z.optional(score),
    sandbox: z.optional(
      z.unknown().check(
        z.refine((value) => value === 'none', 'only none for now'),
        z.meta({ enum: ['none'] }),
      ),
    ),
    snapshots: z.optional(snapshotsSchema),
    keep: z.optional(z.enum(['always', 'failed', 'never'])),
  })
}

const withOneScorer = schemaWith(scorer)
const withNamedScorers = schemaWith(z.record(name, scorer))

export type EvalFile = Omit<z.infer<typeof withOneScorer>, 'score'> & {
  score?: WrittenScorer | Record<string, WrittenScorer> | undefined
}
export type WrittenScorer = z.infer<typeof scorer>
export type WrittenTask = z.infer<typeof inlineTask>
export type WrittenVariant = z.infer<typeof partialVariant>
/** What a cell may spend, as it is written. */
export type WrittenLimits = Omit<z.infer<typeof limits>, 'iterations'>

/** The schema of `eval.yaml` with the form of `score:` that the author chose: of several forms, mistakes are told of one. */
export function evalSchema(value: unknown): z.ZodMiniType<EvalFile> {
  const schema = isNamed(Object(value).score) ? withNamedScorers : withOneScorer
  return schema as unknown as z.ZodMiniType<EvalFile>
}

/** The schema for editors, which offers all forms at once. What only refuses is left out. */
export function editorSchemaOfEval(): z.ZodMiniType {
  const scorers = z.record(name, scorer)
  return z.extend(withOneScorer, {
    limits: z.optional(editorLimits),
    tasks: z.union([
      text,
      z.array(z.union([text, z.extend(inlineTask, { limits: z.optional(editorLimits) })])),
    ]),
    score: z.optional(z.union([scorer, scorers])),
  })
}

/** The schema of a line of a JSONL file of tasks. */
export const taskSchema: z.ZodMiniType<WrittenTask> = inlineTask as unknown as z.ZodMiniType<WrittenTask>

/** The name of a scorer that is the only one. */
export const UNNAMED = 'score'

/** True for `score: { tests: { command: … }, style: { command: … } }`. */
export function isNamed(score: unknown): score is Record<string, WrittenScorer> {
  if (typeof score !== 'object' || score === null || Array.isArray(score)) return false
  const entries = Object.entries(score)
  return entries.length > 0 && entries.every(([key, each]) => key !== 'equals' && isMapping(each))
}

function isMapping(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
