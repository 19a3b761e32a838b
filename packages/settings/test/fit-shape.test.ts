import { expect, test } from 'vitest'
import * as z from 'zod/mini'
import { fitShape, formatPath, inCamelCase } from '../src/index.js'

const command = z.strictObject({ command: z.array(z.string()), timeout_ms: z.optional(z.int()) })
const schema = z.strictObject({
  name: z.string(),
  retries: z.optional(z.int().check(z.gte(0))),
  level: z.optional(z.enum(['low', 'high'])),
  notify: z.optional(z.union([z.boolean(), command])),
  steps: z.optional(
    z.nullable(
      z.array(
        z.discriminatedUnion('kind', [
          z.strictObject({ kind: z.literal('run'), program: z.string() }),
          z.strictObject({ kind: z.literal('wait'), seconds: z.number() }),
        ]),
      ),
    ),
  ),
  checks: z.optional(
    z.record(
      z.string(),
      z.lazy(() => command),
    ),
  ),
})

function said(value: unknown): string[] {
  return fitShape(schema, value).problems.map(({ path, message, hint }) =>
    [`${formatPath(path)}: ${message}`, hint].join(' | '),
  )
}

test('every problem has its path, and says what was wanted, what is there, and what to write', () => {
  const value = {
    retries: '3',
    level: 'hihg',
    notify: { command: 'make | tee log' },
    steps: [{ kind: 'run' }, { kind: 'wiat' }, 'run', { kind: 'wait', seconds: '5' }],
    checks: { lint: 'biome check', test: {} },
  }
  expect(said(value)).toEqual([
    ': "name" is missing | Add "name:" with a string.',
    'retries: must be a number, got "3" | Write it without quotes.',
    'level: must be one of low, high, got "hihg" | Did you mean "high"?',
    'notify.command: must be a list, got "make | tee log" | Write: command: ["sh","-c","make | tee log"]',
    'steps[0]: "program" is missing | Add "program:" with a string.',
    'steps[1].kind: must be one of run, wait, got "wiat" | Did you mean "wait"?',
    'steps[2]: must be a mapping, got "run" | ',
    'steps[3].seconds: must be a number, got "5" | Write it without quotes.',
    'checks.lint: must be a mapping with "command", got "biome check" | Write: { command: ["biome","check"] }',
    'checks.test: "command" is missing | Add "command:" with a list.',
  ])
  expect(said([])).toEqual([': must be a mapping with "name", got an empty list | '])
})

test('an unknown key names the nearest one of its own mapping, or all of them, and the rest is read', () => {
  const value = {
    name: 'build',
    retires: 3,
    steps: [{ kind: 'wait', seconds: 1, secnds: 2, program: 'ls' }],
    checks: { lint: { command: ['biome'], timeout: 5, 'x-owner': 'me' } },
  }
  const { value: read, problems } = fitShape(schema, value, ['retrieve'])
  expect(problems.map(({ path, hint, nearest }) => [formatPath(path), hint, nearest])).toEqual([
    ['steps[0].secnds', 'Did you mean "seconds"?', 'seconds'],
    ['steps[0].program', 'Known here: kind, seconds.', undefined],
    ['checks.lint.timeout', 'Did you mean "timeout_ms"?', 'timeout_ms'],
    ['retires', 'Did you mean "retries"?', 'retries'],
  ])
  expect(problems.every(({ unknownKey }) => unknownKey)).toBe(true)
  expect(read).toEqual({
    name: 'build',
    steps: [{ kind: 'wait', seconds: 1 }],
    checks: { lint: { command: ['biome'] } },
  })
  expect(value).toHaveProperty('retires', 3) // what was given stays as it is
})

test('keys become camelCase, and those without a value go', () => {
  expect(inCamelCase({ timeout_ms: 5, on_error: undefined, pass_env: { API_KEY: 'x' } })).toEqual({
    timeoutMs: 5,
    passEnv: { API_KEY: 'x' },
  })
})
