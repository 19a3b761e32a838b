import * as z from 'zod/mini'
import { effectsSchema, TRUST_LEVELS } from '../policy/effects.js'

const LONGEST_TIMEOUT_MS = 2 ** 31 - 1
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** The keys of a tool that say how it runs, as they are written. Lazy: made when the first tool has one, for that takes a hundredth of a start. */
export const settingsSchema = z.lazy(() => {
  const milliseconds = z
    .int('expected whole milliseconds, 0 for no limit')
    .check(
      z.minimum(0, 'expected 0 (no limit) or more'),
      z.maximum(LONGEST_TIMEOUT_MS, 'at most 2147483647 (24 days)'),
    )
  const yesOrNo = z.boolean('expected true or false')
  const text = z.string('expected a text')
  const pathList = z.array(text, 'expected a list of paths')
  const variableName = text.check(z.regex(NAME, 'expected the name of an environment variable'))
  const value = z.pipe(
    z.union([z.string(), z.number(), z.boolean()], 'expected a text or a number'),
    z.transform(String),
  )
  const variablesError = ({ code }: { code?: string }) =>
    code === 'invalid_key'
      ? 'expected the name of an environment variable'
      : 'expected a mapping of names to values'
  const directory = text.check(
    z.refine(
      (path) => !/\$\{(?!AGENT_HOME\}|CWD\})/.test(path),
      'only ${AGENT_HOME} and ${CWD} stand for something here',
    ),
    z.refine(
      (path) => !leavesWorkspace(path),
      'a relative cwd stays inside the workspace; write an absolute path to leave it',
    ),
  )

  return z.object({
    display: z.optional(text.check(z.regex(/^[^\n]*\S[^\n]*$/, 'expected one line of text'))),
    timeout_ms: z.optional(milliseconds),
    cwd: z.optional(directory),
    env: z.optional(z.record(variableName, value, { error: variablesError })),
    pass_env: z.optional(z.array(variableName, 'expected a list of names')),
    effects: z.optional(effectsSchema),
    trust: z.optional(z.enum(TRUST_LEVELS, `expected one of ${TRUST_LEVELS.join(', ')}`)),
    on_interrupt: z.optional(z.enum(['report', 'rerun', 'ask'], 'expected report, rerun or ask')),
    critical: z.optional(yesOrNo),
    sandbox: z.optional(
      z.union(
        [
          z.boolean(),
          z.object({ network: z.optional(yesOrNo), write: z.optional(pathList), read: z.optional(pathList) }),
        ],
        'expected true, false, or { network: true|false, write: [paths], read: [paths] }',
      ),
    ),
    output: z.optional(
      z.object(
        {
          max_chars: z.optional(z.int('expected a whole number').check(z.minimum(1, 'expected 1 or more'))),
          keep: z.optional(z.enum(['head', 'tail', 'both'], 'expected head, tail or both')),
          max_bytes: z.optional(
            z
              .int('expected a whole number of bytes, 0 for no limit')
              .check(z.minimum(0, 'expected 0 (no limit) or more')),
          ),
        },
        'expected { max_chars: number, keep: head|tail|both, max_bytes: number }',
      ),
    ),
  })
})

export type WrittenSettings = z.infer<typeof settingsSchema>

/** The keys a tool's YAML may hold for this package, for suggestions when one is misspelt. */
export const TOOL_SETTING_KEYS: readonly string[] = Object.keys({
  display: true,
  timeout_ms: true,
  cwd: true,
  env: true,
  pass_env: true,
  effects: true,
  trust: true,
  on_interrupt: true,
  critical: true,
  sandbox: true,
  output: true,
} satisfies Record<keyof WrittenSettings, true>)

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
