import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { temporaryAgent } from '@delta/testkit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { asYaml } from '../src/present/yaml.js'
import { delta } from './delta.js'

// What `tool expand` and `config` write is read again: by Delta, and by programs that know YAML from another library.

/** Texts that are something else when nobody quotes, escapes or indents them. */
const PIECES = [
  ...[
    'word',
    'a longer word ',
    ' ',
    '  ',
    '\t',
    '\n',
    '\n\n',
    '\n ',
    ' \n',
    '\r',
    '\r\n',
    '\u0085',
    '\u2028',
    '\ufeff',
  ],
  ...[
    '😀',
    'é',
    '\u3000',
    '\u00a0',
    '\0',
    '\u001b[31m',
    '#',
    ' # ',
    ': ',
    ':',
    '- ',
    '-',
    '---',
    '\n---\n',
    '...',
    '%',
    '@',
  ],
  ...[
    '`',
    '!',
    '!!str ',
    '&a',
    '*a',
    '|',
    '>',
    '{',
    '}',
    '[',
    ']',
    ', ',
    '? ',
    '"',
    "'",
    '\\',
    '\\n',
    '=',
    '<<',
    '${file}',
  ],
  ...[
    '0',
    '1.50',
    '1e312',
    '-1E+999',
    '9'.repeat(309),
    `0x${'f'.repeat(256)}`,
    '0o17',
    '1_000',
    '12:30',
    '2020-01-01',
  ],
  ...['yes', 'no', 'null', '~', 'true', '.inf', 'the quick brown fox jumps over the lazy dog and on '],
]
const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }).map((pieces) => pieces.join(''))
const single = fc.oneof(
  text,
  text,
  fc.double({ noNaN: true }),
  fc.integer(),
  fc.constantFrom(true, false, null),
)
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    single,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}))

test('whatever is written as YAML, it is read as it was', () => {
  fc.assert(
    fc.property(value, (tools) => {
      const written = asYaml({ tools })
      expect(parse(written), written).toEqual({ tools })
      expect(parse(written, { version: '1.1', schema: 'core' }), written).toEqual({ tools })
    }),
    { numRuns: 5_000 },
  )
})

test('what is undefined is left out', () => {
  expect(asYaml({ name: 'a', version: undefined })).toBe('name: a\n')
})

const NASTY = [
  ' :=\n ',
  ' :=\n \n',
  '1e312',
  'kept\n\n\n',
  'wide blank\u3000',
  '2020-01-01',
  'yes',
  '#',
  '- a',
  'a: b\n',
  '\ttab ',
  ' \r\n',
]
const TOOLS = NASTY.map((description, index) => ({
  name: `tool_${index}`,
  exec: 'echo ${text}',
  description,
  parameters: [{ name: 'text', enum: NASTY, default: description, description }],
}))

test('tools with texts that are hard to write are expanded to YAML that is the same as the JSON', async () => {
  await using agent = await temporaryAgent({ tools: TOOLS })
  const json = JSON.parse((await delta(['tool', 'expand', '--json', agent.path])).stdout)
  expect(json.tools.map((tool: { description: string }) => tool.description)).toEqual(NASTY)

  const { stdout } = await delta(['tool', 'expand', agent.path])
  expect(parse(stdout)).toEqual(json)
  await using again = await temporaryAgent({ files: { 'agent.yaml': stdout } })
  expect(parse((await delta(['tool', 'expand', again.path])).stdout)).toEqual(json)

  const config = JSON.parse((await delta(['config', '--json', '--agent', agent.path])).stdout)
  expect(parse((await delta(['config', '--agent', agent.path])).stdout)).toEqual(config)
})

test('the last text of a document ends as it was written', async () => {
  for (const end of ['\n\n\n', '\u3000', '\n']) {
    const document = { tools: [{ name: 'say', shell: `echo a${end}` }], description: `Says a.${end}` }
    await using agent = await temporaryAgent({ files: { 'tools.yaml': JSON.stringify(document) } })
    for (const only of [[], ['--tool', 'say']]) {
      const args = ['tool', 'expand', ...only, join(agent.path, 'tools.yaml')]
      const json = JSON.parse((await delta([...args, '--json'])).stdout)
      expect(parse((await delta(args)).stdout)).toEqual(json)
    }
  }
})

const PYTHON = 'import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))'
const hasPython = spawnSync('python3', ['-c', 'import yaml']).status === 0

test.skipIf(!hasPython)('Python reads the expanded tools as they are, dates and yes and all', async () => {
  await using agent = await temporaryAgent({ tools: TOOLS })
  const { stdout } = await delta(['tool', 'expand', agent.path])
  const read = spawnSync('python3', ['-c', PYTHON], { input: stdout, encoding: 'utf8' })
  expect(read.stderr).toBe('')
  expect(JSON.parse(read.stdout)).toEqual(parse(stdout))
})
