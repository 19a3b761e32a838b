import type { Matches } from '@delta/tool-expander'
import { describe, expect, test } from 'vitest'
import {
  defineTool,
  needsApproval,
  type Policy,
  parsePolicy,
  prepareCall,
  runPrepared,
  type Tool,
  type WrittenTool,
} from '../src/index.js'
import { patternBudget } from '../src/internal.js'

const byName = (...tools: WrittenTool[]) => new Map(tools.map((tool) => [tool.name, defineTool(tool)]))

const tools = byName(
  { name: 'search', exec: 'grep ${pattern} ${file}' },
  { name: 'list', exec: 'ls' },
  { name: 'erase', exec: 'rm ${file}', effects: { destructive: true } },
  { name: 'fetch', exec: 'curl ${url}', effects: { network: true, destructive: false } },
)
const variables = { AGENT_HOME: '/agent', CWD: '/work' }

function prepare(name: string, args: unknown, policy?: Policy) {
  return prepareCall(tools, { name, arguments: args }, { variables, policy })
}

test('a good call becomes an argv, and a line that can be pasted into a shell', () => {
  expect(prepare('search', '{"pattern":"it\'s","file":"a b.txt"}')).toMatchObject({
    decision: 'allow',
    args: { pattern: "it's", file: 'a b.txt' },
    argv: ['grep', "it's", 'a b.txt'],
    resolvedCommand: `grep "it's" 'a b.txt'`,
    reasons: [],
  })
})

test('relative variables are made absolute: a command would look for them from where it runs', () => {
  const own = byName({ name: 'own', exec: 'ls ${AGENT_HOME}/a ${CWD}' })
  const relativePaths = { variables: { AGENT_HOME: 'agent', CWD: '.' } }
  expect(prepareCall(own, { name: 'own', arguments: {} }, relativePaths)).toMatchObject({
    argv: ['ls', `${process.cwd()}/agent/a`, process.cwd()],
  })
})

test('a refused value that may be right brings advice for the author of the tool, the same for each such call', () => {
  const advice =
    'search: a value of "pattern" that begins with "-" was refused. If such values are right, use stdin: json, put -- before it, or set allow_dash: true.'
  for (const pattern of ['-a', '--pre=sh'])
    expect(prepare('search', { pattern, file: 'a' })).toMatchObject({
      decision: 'refuse',
      status: 'ERROR',
      advice,
    })
  expect(prepare('search', { pattern: 'a' })).not.toHaveProperty('advice')
})

describe('a pattern that would take years is given a second', () => {
  const pattern = '(a+)+'
  const VALUE = `${'a'.repeat(60)}!`
  const TOO_SLOW =
    "took longer than 1000 ms to match its pattern. Send another value. The tool's author must write a pattern without a repeat inside a repeat."
  const item = { type: 'object', properties: { old: { pattern } } }
  const edits = { name: 'edits', type: 'array', items: item } as const
  const list = { name: 'list', type: 'array', pattern } as const
  const input_schema = { type: 'object', properties: { p: { type: 'string', pattern: `^${pattern}$` } } }
  const slow = byName(
    { name: 'one', exec: 'x ${p}', parameters: [{ name: 'p', pattern }] },
    { name: 'many', exec: 'x ${list} ${p}', parameters: [list, { name: 'p', pattern }] },
    { name: 'deep', exec: 'x', stdin: 'json', parameters: [edits] },
    { name: 'schema', exec: 'x', stdin: 'json', input_schema },
  )
  const prepareSlow = (name: string, args: object, matches?: Matches) =>
    prepareCall(slow, { name, arguments: args }, { variables, matches })

  test.each([
    ['many', { list: Array(50).fill(VALUE), p: VALUE }, `- "list[0]" ${TOO_SLOW}`],
    ['deep', { edits: Array(50).fill({ old: VALUE }) }, `- "edits[0].old" ${TOO_SLOW}`],
    ['schema', { p: VALUE }, `- "p" ${TOO_SLOW}`],
  ])('for the whole call: %s', (name, args, reason) => {
    const refused = prepareSlow(name, args)
    expect(refused).toMatchObject({ decision: 'refuse', status: 'ERROR' })
    const observation = refused.decision === 'refuse' ? refused.observation : ''
    expect(observation.split('\n').filter((line) => line.startsWith('- '))).toEqual([reason])
  })

  test('and for all calls of one answer together: the next is told to come again', () => {
    const budget = patternBudget()
    expect(prepareSlow('one', { p: 'aaa' }, budget())).toMatchObject({ decision: 'allow' })
    expect(prepareSlow('one', { p: VALUE }, budget())).toMatchObject({
      observation: expect.stringContaining(TOO_SLOW),
    })
    expect(prepareSlow('many', { list: ['a', 'a'], p: 'a' }, budget())).toMatchObject({
      decision: 'refuse',
      observation: expect.stringContaining(
        '- "list[0]" was not compared with its pattern: other values of this answer took the 1000 ms there are. Send the call again.\nIts',
      ),
    })
  })

  test('and a call of another answer has its own', () => {
    expect(prepareSlow('one', { p: VALUE }).decision).toBe('refuse')
    expect(prepareSlow('one', { p: 'aaa' })).toMatchObject({ decision: 'allow', argv: ['x', 'aaa'] })
    expect(prepareSlow('one', { p: 'b' })).toMatchObject({
      observation: expect.stringContaining('"p" must match /(a+)+/.'),
    })
  })

  test('with an entrusted value in the place of its token, too', async () => {
    const token = '«secret:1-0»'
    const parameters = [{ name: 'p', pattern: `${token}|${pattern}` }]
    const own = byName({ name: 'own', exec: 'echo ${p}', parameters })
    const call = prepareCall(own, { name: 'own', arguments: { p: token } }, { variables })
    if (call.decision === 'refuse') throw new Error(call.observation)
    const context = { cwd: '/', env: process.env, secretTokens: { [token]: VALUE } }
    expect((await runPrepared(call, context)).observation).toBe(
      'BLOCKED: the value behind the token in "p" is not what the parameter takes. Nothing was run.',
    )
  })
})

test('a model that misses an input_schema is told its properties', () => {
  const properties = { a: { type: ['number', 'null'] }, b: {} }
  const input_schema = { type: 'object', properties, required: ['a'] }
  const own = byName({ name: 'sum', exec: 'sum', stdin: 'json', input_schema })
  expect(prepareCall(own, { name: 'sum', arguments: '{"a":"x"}' }, { variables })).toMatchObject({
    observation:
      'ERROR: the arguments of "sum" were not accepted. Nothing was run.\n- "a" must be a number or null.\nIts parameters: a (number or null, required), b (any).',
  })
})

describe('Whatever else a model sends has an answer it can act on', () => {
  const all = 'The tools are: search, list, erase, fetch.'
  const usage = 'Send one JSON object. Its parameters: pattern (string, required), file (string, required).'
  const notAnObject = `ERROR: the arguments of "search" are not an object. Nothing was run.\n${usage}`
  test.each([
    [
      'an unknown tool',
      'serach',
      `there is no tool "serach". Nothing was run.\nDid you mean "search"?\n${all}`,
    ],
    ['a name like nothing we have', '__proto__', `there is no tool "__proto__". Nothing was run.\n${all}`],
    ['no name at all', '', `there is no tool "". Nothing was run.\n${all}`],
    ['control characters', '\x9b31m', `there is no tool "\\x9b31m". Nothing was run.\n${all}`],
    ['a long name', 'x'.repeat(300), `there is no tool "${'x'.repeat(60)}…". Nothing was run.\n${all}`],
  ])('%s', (_what, name, message) => {
    expect(prepare(name, {})).toEqual({
      decision: 'refuse',
      status: 'ERROR',
      args: {},
      observation: `ERROR: ${message}`,
    })
  })

  test.each(['["a"]', 'null', '5', '"a"'])('arguments that are not an object: %s', (args) => {
    expect(prepare('search', args)).toEqual({
      decision: 'refuse',
      status: 'ERROR',
      args,
      observation: notAnObject,
    })
  })

  test('broken JSON', () => {
    const observation = expect.stringMatching(
      /^ERROR: the arguments of "search" are not valid JSON \(.+\)\. Nothing was run\.\nSend one JSON object\./,
    )
    const args = '{"pattern": "a'
    expect(prepare('search', args)).toEqual({ decision: 'refuse', status: 'ERROR', args, observation })
  })

  test('wrong and missing values, all at once', () => {
    expect(prepare('search', { pattern: { a: 1 } })).toMatchObject({
      decision: 'refuse',
      status: 'ERROR',
      observation: expect.stringMatching(
        /^ERROR: the arguments of "search" were not accepted\. Nothing was run\.\n- .*pattern.*\n- .*file.*\nIts parameters: /,
      ),
    })
  })

  test('an unknown tool where the caller offers others besides: they are named, too', () => {
    const context = { variables, otherNames: ['ask_human'] }
    expect(prepareCall(tools, { name: 'ask_humans', arguments: {} }, context)).toHaveProperty(
      'observation',
      'ERROR: there is no tool "ask_humans". Nothing was run.\nDid you mean "ask_human"?\nThe tools are: search, list, erase, fetch, ask_human.',
    )
  })

  test('a name that is not a string', () => {
    expect(prepare(undefined as unknown as string, {}).decision).toBe('refuse')
  })

  test.each([undefined, '', '  ', '{}', {}])('no arguments at all for a tool that takes none: %j', (args) => {
    expect(prepare('list', args)).toMatchObject({ decision: 'allow', argv: ['ls'], args: {} })
  })

  test('prototype names are not arguments', () => {
    expect(prepare('search', '{"pattern":"a","file":"b","__proto__":{"x":1}}').decision).not.toBe('ask')
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })
})

describe('The policy', () => {
  test('is asked before anything runs, and says why it refuses', () => {
    expect(prepare('fetch', { url: 'http://x' }, parsePolicy({ allow_network: false }))).toEqual({
      decision: 'refuse',
      status: 'BLOCKED',
      args: { url: 'http://x' },
      observation:
        'BLOCKED: the policy of this agent does not allow "fetch": network. Nothing was run.\nCalling it again will not help; use another tool, or say what you would need.',
    })
  })

  test('may want a person, who sees exactly what would run', () => {
    expect(prepare('erase', { file: 'a' }, parsePolicy({ allow_destructive: false }))).toMatchObject({
      decision: 'ask',
      argv: ['rm', 'a'],
      resolvedCommand: 'rm a',
      reasons: ['destructive'],
    })
  })
})

describe('A program that asks by itself knows before a call whether a person must approve it', () => {
  const asks = parsePolicy({ allow_destructive: false })
  const denies = parsePolicy({ on_confirmation: 'deny' })
  test.each([
    ['a call that the policy puts to a person', 'erase', { file: 'a' }, asks, true],
    ['its arguments as JSON text', 'erase', '{"file":"a"}', asks, true],
    ['no policy', 'erase', { file: 'a' }, undefined, false],
    ['a call that runs at once', 'fetch', { url: 'x' }, asks, false],
    ['a refused value', 'erase', { file: '--all' }, asks, false],
    ['broken JSON', 'erase', '{"file":', asks, false],
    ['a policy without a person', 'erase', { file: 'a' }, denies, false],
    ['a denied effect', 'fetch', { url: 'x' }, parsePolicy({ allow_network: false }), false],
  ] as const)('%s', (_what, name, args, policy, asked) => {
    expect(needsApproval(tools.get(name) as Tool, args, policy)).toBe(asked)
  })
})
