import * as z from 'zod/mini'
import { effectsSchema, TRUST_LEVELS } from '../policy.js'

const LONGEST_TIMEOUT_MS = 2 ** 31 - 1
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** The keys of a tool that say how it runs, as they are written. Lazy: made when the first tool has one, for that takes a hundredth of a start. */
export const settingsSchema = z.lazy(() => {
  const milliseconds = z
    .int('whole milliseconds, 0 for no limit')
    .check(z.minimum(0), z.maximum(LONGEST_TIMEOUT_MS, 'at most 2147483647 (24 days)'))
  const yesOrNo = z.optional(z.boolean())
  const texts = z.optional(z.array(z.string()))
  const variableName = z.string().check(z.regex(NAME, 'the name of an environment variable'))
  const value = z.pipe(
    z.union([z.string(), z.number(), z.boolean()], 'a text or a number'),
    z.transform(String),
  )
  const variablesError = ({ code }: { code?: string }) =>
    code === 'invalid_key' ? 'is not the name of an environment variable' : 'a map of names to values'
  const directory = z.string().check(
    z.refine(
      (path) => !/\$\{(?!AGENT_HOME\}|CWD\})/.test(path),
      'only ${AGENT_HOME} and ${CWD} stand for something here',
    ),
    z.refine(
      (path) => !leavesWorkspace(path),
      'a relative cwd stays inside the workspace; write an absolute path to leave it',
    ),
  )
  const sandbox = z.strictObject({ network: yesOrNo, write: texts, read: texts })
  const output = z.strictObject({
    max_chars: z.optional(z.int().check(z.minimum(1))),
    keep: z.optional(z.enum(['head', 'tail', 'both'])),
    max_bytes: z.optional(z.int('a whole number of bytes, 0 for no limit').check(z.minimum(0))),
  })

  return z.strictObject({
    display: z.optional(z.string().check(z.regex(/^[^\n]*\S[^\n]*$/, 'one line of text'))),
    timeout_ms: z.optional(milliseconds),
    cwd: z.optional(directory),
    env: z.optional(z.record(variableName, value, { error: variablesError })),
    pass_env: z.optional(z.array(variableName)),
    effects: z.optional(effectsSchema),
    trust: z.optional(z.enum(TRUST_LEVELS)),
    on_interrupt: z.optional(z.enum(['report', 'rerun', 'ask'])),
    critical: yesOrNo,
    sandbox: z.optional(z.union([z.boolean(), sandbox])),
    output: z.optional(output),
  })
})

export type WrittenSettings = z.infer<typeof settingsSchema>

function leavesWorkspace(path: string): boolean {
  if (path.startsWith('/') || path.startsWith('${')) return false
  let depth = 0
  for (const part of path.split('/')) {
    if (part === '..') depth--
    else if (part !== '' && part !== '.') depth++
    if (depth < 0) return true
  }
  return false
}
