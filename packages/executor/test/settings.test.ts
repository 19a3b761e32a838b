import { describe, expect, test } from 'vitest'
import { defineTool, type WrittenTool } from '../src/index.js'
import { renderDisplay } from '../src/internal.js'
import { safeParseToolSettings } from '../src/tool-settings.js'

test('a tool that says nothing has the defaults', () => {
  expect(safeParseToolSettings({})).toEqual({
    ok: true,
    settings: {
      timeoutMs: 600_000,
      onInterrupt: 'report',
      env: {},
      passEnv: [],
      critical: false,
      output: { as: 'text', partBytes: 5_000_000, maxChars: 30_000, keep: 'both', maxBytes: 1_000_000_000 },
    },
    warnings: [],
  })
})

test('everything a tool can say', () => {
  const parsed = safeParseToolSettings({
    display: 'a tool',
    timeout_ms: 0,
    cwd: 'sub',
    env: { LEVEL: 3, DEBUG: true, NAME: 'x' },
    pass_env: ['OPENAI_API_KEY'],
    effects: { network: true },
    trust: 'org',
    on_interrupt: 'ask',
    critical: true,
    sandbox: true,
    output: { max_chars: 100, keep: 'tail', max_bytes: 0 },
  })
  expect(parsed).toEqual({
    ok: true,
    warnings: [],
    settings: {
      display: 'a tool',
      timeoutMs: 0,
      cwd: 'sub',
      env: { LEVEL: '3', DEBUG: 'true', NAME: 'x' },
      passEnv: ['OPENAI_API_KEY'],
      effects: { network: true },
      trust: 'org',
      onInterrupt: 'ask',
      critical: true,
      sandbox: { network: false, write: ['CWD'], read: [] },
      output: { as: 'text', partBytes: 5_000_000, maxChars: 100, keep: 'tail', maxBytes: 0 },
    },
  })
})

test('every mistake is reported, with its place', () => {
  const parsed = safeParseToolSettings({
    timeout_ms: '5s',
    cwd: '../elsewhere',
    env: { 'A-B': 'x' },
    pass_env: 'KEY',
    effects: { network: 'yes', interactive: false, cost: { estimate: 'huge' } },
    on_interrupt: 'ignore',
    sandbox: 'yes',
    output: { as: 'img', keep: 'middle', part_bytes: 30_000_000 },
  })
  expect(parsed).toEqual({
    ok: false,
    problems: [
      { path: 'timeout_ms', message: 'must be whole milliseconds, 0 for no limit, got "5s"' },
      {
        path: 'cwd',
        message: 'a relative cwd stays inside the workspace; write an absolute path to leave it',
      },
      { path: 'env.A-B', message: 'is not the name of an environment variable' },
      {
        path: 'pass_env',
        message: 'must be a list, got "KEY"',
        hint: 'Begin each element with "- ", also a single one.',
      },
      { path: 'effects.network', message: 'must be true or false, got "yes"' },
      { path: 'effects.interactive', message: 'must be a mapping, got false' },
      { path: 'effects.cost.estimate', message: 'must be one of free, low, medium, high, got "huge"' },
      { path: 'on_interrupt', message: 'must be one of report, rerun, ask, got "ignore"' },
      { path: 'sandbox', message: 'must be true or false or a mapping, got "yes"' },
      { path: 'output.as', message: 'must be one of text, image, file, auto, mcp, got "img"' },
      {
        path: 'output.part_bytes',
        message: 'must be at most 24000000: in base64, no provider takes more, got 30000000',
      },
      { path: 'output.keep', message: 'must be one of head, tail, both, got "middle"' },
    ],
    warnings: [],
  })
})

test.each(['a/../..', '..', './../x', '${HOME}/x'])('cwd %s is refused', (cwd) => {
  expect(safeParseToolSettings({ cwd })).toMatchObject({ ok: false, problems: [{ path: 'cwd' }] })
})

test.each(['a/../b', '/tmp', '${AGENT_HOME}/x', '${CWD}/x', '.'])('cwd %s is accepted', (cwd) => {
  expect(safeParseToolSettings({ cwd })).toMatchObject({ ok: true, settings: { cwd } })
})

describe('How long a tool may run', () => {
  test.each([
    [{ exec: 'make' }, 600_000],
    [{ exec: 'make', timeout_ms: 5 }, 5],
    [{ exec: 'delta run' }, 0],
    [{ command: ['/usr/local/bin/delta', 'run'] }, 0],
    [{ command: ['./delta', 'run'] }, 600_000], // a file of the workspace, which a model may have written
  ])('%j: %d ms', (definition, timeoutMs) => {
    expect(defineTool({ name: 'x', ...definition }).settings.timeoutMs).toBe(timeoutMs)
  })
})

describe('After a crash a tool is', () => {
  test.each([
    [{}, 'report'],
    [{ effects: { idempotent: true } }, 'rerun'],
    [{ effects: { idempotent: true }, on_interrupt: 'ask' }, 'ask'],
    [{ effects: { idempotent: true }, trust: 'community' }, 'report'],
    [{ effects: { idempotent: true }, trust: 'org' }, 'rerun'],
  ] as const)('%j: %s', (settings, policy) => {
    expect(defineTool({ name: 'x', exec: 'make', ...settings }).settings.onInterrupt).toBe(policy)
  })
})

function problemsOf(definition: unknown): unknown {
  try {
    defineTool(definition as WrittenTool)
    return 'accepted'
  } catch (error) {
    expect(error).toMatchObject({ code: 'ERR_EXECUTOR_TOOL' })
    return (error as Error).message
  }
}

test('a definition with a mistyped key is refused with the key that was probably meant', () => {
  expect(problemsOf({ name: 'ab', exec: 'ls', timeout: 5 })).toBe(
    'The tool cannot be used:\ntimeout: unknown key "timeout". Did you mean "timeout_ms"?',
  )
  const parameters = [{ name: 'file', requird: true }]
  expect(problemsOf({ name: 'ab', exec: 'ls ${file}', output: { kep: 'tail' }, parameters })).toBe(
    `The tool cannot be used:
output.kep: unknown key "kep". Did you mean "keep"?
parameters[0].requird: unknown key "requird". Did you mean "required"?`,
  )
})

test('the mistakes of a definition are named all at once: of its syntax, of how it runs, and of its keys', () => {
  const message = problemsOf({ name: 'a b', exec: 'ls', cwd: 5, sandbx: true })
  expect(message).toMatch(
    /name must be .*\n(.*\n)*cwd: must be a string, got 5\. Write it in quotes\.\nsandbx: unknown key "sandbx"\. Did you mean "sandbox"\?$/,
  )
})

test("keys that are like none that is known, and an author's own, are ignored", () => {
  expect(problemsOf({ name: 'ab', exec: 'ls', 'x-timeout': 5, frobnicate: 1 })).toBe('accepted')
  expect(problemsOf({ name: 'ab', exec: 'ls', output: { 'x-kep': 1 } })).toBe('accepted')
})

test('what a display names must be parameters of the tool, and it is one line', () => {
  const edit = { name: 'edit', exec: 'ed ${path}', parameters: [{ name: 'path' }] }
  expect(defineTool({ ...edit, display: 'edit ${path} \\${x}' }).settings.display).toBe('edit ${path} \\${x}')
  expect(() => defineTool({ ...edit, display: 'edit ${file}' })).toThrow(
    'display: ${file} is not a parameter of edit (path)',
  )
  expect(() => defineTool({ name: 'ls', exec: 'ls', display: '${CWD}' })).toThrow(
    'display: ${CWD} is not a parameter: ls has none',
  )
  for (const display of ['', ' ', 'a\nb'])
    expect(() => defineTool({ ...edit, display })).toThrow('display: must be one line of text, got')
})

test('a display shows values as they were sent, others as JSON, and nothing for what is absent', () => {
  const args = { path: 'a b', edits: [{ old: 'x' }], lines: 5, none: null }
  const text = renderDisplay(
    '${path}|${edits}|${lines}|${none}|${other}|${constructor}|\\${path}',
    args,
    (value) => value,
  )
  expect(text).toBe('a b|[{"old":"x"}]|5||||${path}')
})
