import { describe, expect, test } from 'vitest'
import {
  defineTool,
  executeTool,
  needsApproval,
  type Policy,
  parsePolicy,
  prepareCall,
  runPrepared,
  type Tool,
  toolMap,
} from '../src/index.js'
import { workspace } from './workspace.js'

const tools = toolMap([
  defineTool({ name: 'search', exec: 'grep ${pattern} ${file}' }),
  defineTool({ name: 'list', exec: 'ls' }),
  defineTool({
    name: 'erase',
    exec: 'rm ${file}',
    effects: { destructive: true },
  }),
  defineTool({ name: 'fetch', exec: 'curl ${url}', effects: { network: true, destructive: false } }),
])
const variables = { AGENT_HOME: '/agent', CWD: '/work' }

function prepare(name: string, args: unknown, policy?: Policy) {
  return prepareCall(tools, { name, arguments: args }, { variables, policy })
}

function policyOf(input: object): Policy {
  const parsed = parsePolicy(input)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
  return parsed.policy
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
  const own = toolMap([defineTool({ name: 'own', exec: 'ls ${AGENT_HOME}/a ${CWD}' })])
  const relativePaths = { variables: { AGENT_HOME: 'agent', CWD: '.' } }
  expect(prepareCall(own, { name: 'own', arguments: {} }, relativePaths)).toMatchObject({
    argv: ['ls', `${process.cwd()}/agent/a`, process.cwd()],
  })
})

test('a refused value that may be right brings advice for the author of the tool, the same for each such call', () => {
  const refused = ['-a', '--b'].map((pattern) => prepare('search', { pattern, file: 'a' }))
  expect(refused).toMatchObject([{ decision: 'refuse' }, { decision: 'refuse' }])
  const advice = refused.map((each) => (each.decision === 'refuse' ? each.advice : ''))
  expect(new Set(advice)).toEqual(
    new Set([
      'search: a value of "pattern" that begins with "-" was refused. If such values are right, use stdin: json, put -- before it, or set allow_dash: true.',
    ]),
  )
  expect(prepare('search', { pattern: 'a' })).not.toHaveProperty('advice')
})

describe('a pattern that would take years is given a second', () => {
  const EVIL = '(a+)+'
  const VALUE = `${'a'.repeat(60)}!`
  const TOO_SLOW =
    "took longer than 1000 ms to match its pattern. Send another value. The tool's author must write a pattern without a repeat inside a repeat."
  const slow = toolMap([
    defineTool({ name: 'one', exec: 'x ${p}', parameters: [{ name: 'p', pattern: EVIL }] }),
    defineTool({
      name: 'many',
      exec: 'x ${list} ${p}',
      parameters: [
        { name: 'list', type: 'array', pattern: EVIL },
        { name: 'p', pattern: EVIL },
      ],
    }),
    defineTool({
      name: 'deep',
      exec: 'x',
      stdin: 'json',
      parameters: [
        { name: 'edits', type: 'array', items: { type: 'object', properties: { old: { pattern: EVIL } } } },
      ],
    }),
    defineTool({
      name: 'schema',
      exec: 'x',
      stdin: 'json',
      input_schema: { type: 'object', properties: { p: { type: 'string', pattern: `^${EVIL}$` } } },
    }),
  ])
  const prepareSlow = (name: string, args: object) =>
    prepareCall(slow, { name, arguments: args }, { variables })

  test.each([
    ['one', { p: VALUE }, `- "p" ${TOO_SLOW}`],
    ['many', { list: Array(50).fill(VALUE), p: VALUE }, `- "list[0]" ${TOO_SLOW}`],
    ['deep', { edits: Array(50).fill({ old: VALUE }) }, `- "edits[0].old" ${TOO_SLOW}`],
    ['schema', { p: VALUE }, `- "p" ${TOO_SLOW}`],
  ])('for the whole call: %s', (name, args, reason) => {
    const refused = prepareSlow(name, args)
    expect(refused).toMatchObject({ decision: 'refuse', status: 'ERROR' })
    const observation = refused.decision === 'refuse' ? refused.observation : ''
    expect(observation.split('\n').filter((line) => line.startsWith('- '))).toEqual([reason])
  })

  test('and the next call has its own', () => {
    expect(prepareSlow('one', { p: VALUE }).decision).toBe('refuse')
    expect(prepareSlow('one', { p: 'aaa' })).toMatchObject({ decision: 'allow', argv: ['x', 'aaa'] })
    expect(prepareSlow('one', { p: 'b' })).toMatchObject({
      observation: expect.stringContaining('"p" must match /(a+)+/.'),
    })
  })

  test('with an entrusted value in the place of its token, too', async () => {
    const token = '«secret:1-0»'
    const own = toolMap([
      defineTool({
        name: 'own',
        exec: 'echo ${p}',
        parameters: [{ name: 'p', pattern: `${token}|${EVIL}` }],
      }),
    ])
    const call = prepareCall(own, { name: 'own', arguments: { p: token } }, { variables })
    if (call.decision === 'refuse') throw new Error(call.observation)
    const { observation } = await runPrepared(call, {
      workDirectory: '/',
      environment: process.env,
      secretTokens: { [token]: VALUE },
    })
    expect(observation).toBe(
      'BLOCKED: the value behind the token in "p" is not what the parameter takes. Nothing was run.',
    )
  })
})

test('a model that misses an input_schema is told its properties', () => {
  const input_schema = {
    type: 'object',
    properties: { a: { type: ['number', 'null'] }, b: {} },
    required: ['a'],
  }
  const own = toolMap([defineTool({ name: 'sum', exec: 'sum', stdin: 'json', input_schema })])
  const call = { name: 'sum', arguments: '{"a":"x"}' }
  expect(prepareCall(own, call, { variables })).toMatchObject({
    observation:
      'ERROR: the arguments of "sum" were not accepted. Nothing was run.\n- "a" must be a number or null.\nIts parameters: a (number or null, required), b (any).',
  })
})

describe('Whatever else a model sends has an answer it can act on', () => {
  const usage = 'Send one JSON object. Its parameters: pattern (string, required), file (string, required).'
  test.each([
    [
      'an unknown tool',
      'serach',
      {},
      'ERROR: there is no tool "serach". Nothing was run.\nDid you mean "search"?\nThe tools are: search, list, erase, fetch.',
    ],
    [
      'a name like nothing we have',
      '__proto__',
      {},
      'ERROR: there is no tool "__proto__". Nothing was run.\nThe tools are: search, list, erase, fetch.',
    ],
    [
      'an array',
      'search',
      '["a"]',
      `ERROR: the arguments of "search" are not an object. Nothing was run.\n${usage}`,
    ],
    [
      'null',
      'search',
      'null',
      `ERROR: the arguments of "search" are not an object. Nothing was run.\n${usage}`,
    ],
    [
      'a number',
      'search',
      '5',
      `ERROR: the arguments of "search" are not an object. Nothing was run.\n${usage}`,
    ],
    [
      'a string',
      'search',
      '"a"',
      `ERROR: the arguments of "search" are not an object. Nothing was run.\n${usage}`,
    ],
  ])('%s', (_what, name, args, observation) => {
    expect(prepare(name, args)).toEqual({ decision: 'refuse', status: 'ERROR', args, observation })
  })

  test('broken JSON', () => {
    const refused = prepare('search', '{"pattern": "a')
    expect(refused).toMatchObject({ decision: 'refuse', status: 'ERROR', args: '{"pattern": "a' })
    expect(refused).toHaveProperty(
      'observation',
      expect.stringMatching(
        /^ERROR: the arguments of "search" are not valid JSON \(.+\)\. Nothing was run\.\nSend one JSON object\./,
      ),
    )
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

  test('a value that would be taken for an option', () => {
    expect(prepare('search', { pattern: '--pre=sh', file: 'a' })).toMatchObject({
      decision: 'refuse',
      status: 'ERROR',
    })
  })

  test('an unknown tool where the caller offers others besides: they are named, too', () => {
    const context = { variables, otherNames: ['ask_human'] }
    expect(prepareCall(tools, { name: 'ask_humans', arguments: {} }, context)).toHaveProperty(
      'observation',
      'ERROR: there is no tool "ask_humans". Nothing was run.\nDid you mean "ask_human"?\nThe tools are: search, list, erase, fetch, ask_human.',
    )
  })

  test('a name of 300 characters is not repeated whole', () => {
    expect(prepare('x'.repeat(300), {})).toHaveProperty(
      'observation',
      expect.stringContaining(`there is no tool "${'x'.repeat(60)}…".`),
    )
  })

  test('a name that is no name, and control characters anywhere', () => {
    expect(prepare(undefined as unknown as string, {}).decision).toBe('refuse')
    expect(prepare('\x9b31m', {})).toHaveProperty('observation', expect.stringContaining('"\\x9b31m"'))
  })

  test.each([
    ['readFile', 'read_file'],
    ['file_read', 'read_file'],
    ['raed_file', 'read_file'],
    ['read_files', 'read_file'],
  ])('a name nearly right: %s', (wrong, right) => {
    const few = toolMap([
      defineTool({ name: 'read_file', exec: 'cat a' }),
      defineTool({ name: 'make', exec: 'make' }),
    ])
    const refused = prepareCall(few, { name: wrong, arguments: {} }, { variables })
    expect(refused).toHaveProperty('observation', expect.stringContaining(`\nDid you mean "${right}"?\n`))
  })

  test.each(['', ' '])('an empty name is near to none: %j', (name) => {
    const few = toolMap([defineTool({ name: 'in', exec: 'cat' })])
    const refused = prepareCall(few, { name, arguments: {} }, { variables })
    expect(refused).toHaveProperty('observation', expect.not.stringContaining('Did you mean'))
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
  test('is asked before anything runs, and says what it minds', () => {
    expect(prepare('fetch', { url: 'http://x' }, policyOf({ allow_network: false }))).toEqual({
      decision: 'refuse',
      status: 'BLOCKED',
      args: { url: 'http://x' },
      observation:
        'BLOCKED: the policy of this agent does not allow "fetch": network. Nothing was run.\nCalling it again will not help; use another tool, or say what you would need.',
    })
  })

  test('may want a person, who sees exactly what would run', () => {
    expect(prepare('erase', { file: 'a' }, policyOf({ allow_destructive: false }))).toMatchObject({
      decision: 'ask',
      argv: ['rm', 'a'],
      resolvedCommand: 'rm a',
      reasons: ['destructive'],
    })
  })

  test('blocks without a person, and runs after an approval', async () => {
    const { path, has } = await workspace({ a: '' })
    const context = { workDirectory: path, environment: process.env, policy: policyOf({}) }
    const call = { name: 'erase', arguments: { file: 'a' } }

    const blocked = await executeTool(tools, call, context)
    expect(blocked).toMatchObject({ status: 'BLOCKED', exitCode: null })
    expect(blocked.observation).toBe(
      'BLOCKED: "erase" needs a person\'s approval (destructive), and it was not given. Nothing was run.',
    )
    expect(has('a')).toBe(true)

    expect(await executeTool(tools, call, { ...context, confirm: () => true })).toMatchObject({
      status: 'SUCCESS',
    })
    expect(has('a')).toBe(false)
  })
})

describe('A program that asks by itself knows before a call whether a person must approve it', () => {
  const erase = tools.get('erase') as Tool
  const fetch = tools.get('fetch') as Tool
  const asks = policyOf({ allow_destructive: false })

  test('a call that the policy puts to a person does, its arguments as JSON text or as a value', () => {
    expect(needsApproval(erase, { file: 'a' }, asks)).toBe(true)
    expect(needsApproval(erase, '{"file":"a"}', asks)).toBe(true)
  })

  test('a call that runs at once does not, and neither does one that is refused whatever a person says', () => {
    expect(needsApproval(erase, { file: 'a' })).toBe(false)
    expect(needsApproval(fetch, { url: 'x' }, asks)).toBe(false)
    expect(needsApproval(erase, { file: '--all' }, asks)).toBe(false)
    expect(needsApproval(erase, '{"file":', asks)).toBe(false)
    expect(needsApproval(erase, { file: 'a' }, policyOf({ on_confirmation: 'deny' }))).toBe(false)
    expect(needsApproval(fetch, { url: 'x' }, policyOf({ allow_network: false }))).toBe(false)
  })

  test('a policy as a person writes it is an error, for it would restrict nothing', () => {
    const written = { allow_destructive: false } as unknown as Policy
    expect(() => needsApproval(erase, { file: 'a' }, written)).toThrow('The policy was not read.')
  })
})
