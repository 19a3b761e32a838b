import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { asYaml } from '../src/commands/tool.js'
import { delta } from './delta.js'

/** An agent whose own `read` replaces an imported one, with an address that its `.env` replaces. */
const LAYERED = {
  'agent.yaml': `name: layered
llm:
  model: gpt-4o
  base_url: http://127.0.0.1:1/v1
  session_token: not-for-anyone
imports: [tools/more.yaml]
tools:
  - name: read
    exec: cat \${file}
`,
  'tools/more.yaml': 'tools:\n  - name: read\n    exec: less ${file}\n  - name: list\n    exec: ls\n',
  'hooks.yaml': 'on_error:\n  command: ["true"]\n',
  '.env': 'DELTA_API_KEY=not-for-anyone\nDELTA_BASE_URL=http://127.0.0.1:2/v1?token=not-for-anyone\n',
}

test('config prints the resolved agent, where its key comes from, and the recipe in the words of context.yaml', async () => {
  const recipe = `sources:
  - &guide { type: file, path: '\${CWD}/DELTA.md', on_missing: skip, max_tokens: 5 }
  - { <<: *guide, id: again }
  - { type: journal, max_iterations: 3 }
total_max_tokens: 1000
`
  const agent = await temporaryAgent({
    files: { ...LAYERED, 'context.yaml': recipe },
    onCleanup: onTestFinished,
  })
  const shown = parse((await delta(['config', '--agent', agent.path])).stdout)
  expect(shown.settings).toEqual([
    { name: 'DELTA_API_KEY', from: join(agent.path, '.env') },
    { name: 'DELTA_BASE_URL', from: join(agent.path, '.env') },
  ])
  expect(shown.agent.tools.map((tool: { name: string }) => tool.name)).toEqual(['read', 'list'])
  const guide = { type: 'file', path: '${CWD}/DELTA.md', on_missing: 'skip', max_tokens: 5 }
  expect(shown.context).toEqual({
    sources: [guide, { ...guide, id: 'again' }, { type: 'journal', max_iterations: 3 }],
    total_max_tokens: 1000,
  })
  expect(JSON.parse((await delta(['config', '--agent', agent.path, '--json'])).stdout)).toEqual(shown)
})

test('an import from outside is refused with the flag that allows it', async () => {
  const outside = await temporaryWorkspace({ 'more.yaml': 'tools: []\n' }, { onCleanup: onTestFinished })
  const agent = await temporaryAgent({
    agent: { imports: [`${outside.path}/more.yaml`] },
    onCleanup: onTestFinished,
  })
  for (const command of [
    ['config', '--agent', agent.path],
    ['tool', 'lint', agent.path],
  ]) {
    const { stderr, stdout } = await delta(command)
    expect(stdout + stderr).toContain(`To allow it: --import-root ${outside.path}\n`)
  }
})

// What `tool expand` and `config` write is read again: by Delta, and by programs that know YAML from another library.

/** Texts that are something else when nobody quotes, escapes or indents them. */
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
const MARKS = [...'#:-%@`!&*|>{}[],?"\'\\=~ \t\n\r\u0085\u2028\ufeff\u00a0\0\u001b😀é']
const WORDS = [
  ...NASTY,
  ...MARKS,
  '---',
  '...',
  '<<',
  '0x1f',
  '0o17',
  '1_000',
  '12:30',
  '.inf',
  'no',
  'null',
  'a word ',
]
const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 8 }).map((pieces) => pieces.join(''))
const single = fc.oneof(text, text, fc.double({ noNaN: true }), fc.constantFrom(true, false, null))
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    single,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}))

test('whatever is written as YAML, it is read as it was, and what is undefined is left out', () => {
  fc.assert(
    fc.property(value, (tools) => {
      const written = asYaml({ tools })
      expect(parse(written), written).toEqual({ tools })
      expect(parse(written, { version: '1.1', schema: 'core' }), written).toEqual({ tools })
    }),
    { numRuns: 2_000 },
  )
  expect(asYaml({ name: 'a', version: undefined })).toBe('name: a\n')
})

const PYTHON = 'import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))'
const hasPython = spawnSync('python3', ['-c', 'import yaml']).status === 0

test('tools with texts that are hard to write are expanded to YAML that is the same as the JSON, also for Python', async () => {
  const tools = NASTY.map((description, index) => ({
    name: `tool_${index}`,
    exec: 'echo ${text}',
    description,
    parameters: [{ name: 'text', enum: NASTY, default: description, description }],
  }))
  const agent = await temporaryAgent({ tools, onCleanup: onTestFinished })
  const json = JSON.parse((await delta(['tool', 'expand', '--json', agent.path])).stdout)
  expect(json.tools.map((tool: { description: string }) => tool.description)).toEqual(NASTY)
  const { stdout } = await delta(['tool', 'expand', agent.path])
  expect(parse(stdout)).toEqual(json)
  const again = await temporaryAgent({ files: { 'agent.yaml': stdout }, onCleanup: onTestFinished })
  expect(parse((await delta(['tool', 'expand', again.path])).stdout)).toEqual(json)
  if (!hasPython) return
  const read = spawnSync('python3', ['-c', PYTHON], { input: stdout, encoding: 'utf8' })
  expect(JSON.parse(read.stdout)).toEqual(json)
})
