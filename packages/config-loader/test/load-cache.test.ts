import { createHash } from 'node:crypto'
import { realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { stringify, type ToStringOptions } from 'yaml'
import { type LoadCache, type LoadOptions, listSettings, loadAgent, loadToolsFile } from '../src/index.js'
import { agentOf, type Files, MINIMAL, texts } from './agents.js'

/** A cache in memory that tells what was written. */
function memory(text?: string): LoadCache & { text: string | undefined; writes: number } {
  return {
    text,
    writes: 0,
    read() {
      return this.text
    },
    write(text) {
      this.text = text
      this.writes += 1
    },
  }
}

const toolsNamed = (prefix: string, exec = 'echo ${text}') =>
  `tools:\n${Array.from({ length: 12 }, (_, index) => `  - { name: ${prefix}_${index}, exec: '${exec}' }\n`).join('')}`

const FILES: Files = {
  'agent.yaml': `${MINIMAL['agent.yaml']}imports: [a.yaml, b.yaml]\n${toolsNamed('own')}`,
  'a.yaml': toolsNamed('a'),
  'b.yaml': toolsNamed('b'),
}

const load = (home: string, options: Partial<LoadOptions> = {}) =>
  loadAgent(home, { environment: {}, ...options })

const commandOf = async (home: string, cache: LoadCache, tool: string) =>
  (await load(home, { cache })).agent.tools.get(tool)?.expanded.command

/** The same cache with other words in it, and a checksum that fits. */
function forged(text: string | undefined, from: string, to: string): string {
  const body = (text ?? '').slice(65).replaceAll(from, to)
  return `${createHash('sha256').update(body).digest('hex')}\n${body}`
}

test('what a load has made of tools is used by the next', async () => {
  const home = await agentOf(FILES)
  const cache = memory()
  const fresh = await load(home, { cache })
  expect(await load(home, { cache })).toStrictEqual(fresh)
  expect(cache.writes).toBe(1)

  // a checksum cannot tell who wrote it: that what is kept is used shows in something else that was kept
  cache.text = forged(cache.text, '"command":["echo"]', '"command":["kept"]')
  for (const tool of ['own_0', 'a_3', 'b_11']) expect(await commandOf(home, cache, tool)).toEqual(['kept'])
})

test('only the files that were changed are made anew', async () => {
  const home = await agentOf(FILES)
  const cache = memory()
  await load(home, { cache })
  cache.text = forged(cache.text, '"command":["echo"]', '"command":["kept"]')
  await writeFile(join(home, 'b.yaml'), toolsNamed('b', 'printf %s ${text}'))
  for (const writes of [2, 2]) {
    expect(await commandOf(home, cache, 'a_0')).toEqual(['kept'])
    expect(await commandOf(home, cache, 'b_0')).toEqual(['printf', '%s'])
    expect(cache.writes).toBe(writes)
  }
})

test('a file that moved is made anew: whether it is JSON or YAML is in its name', async () => {
  const home = await agentOf(FILES)
  const cache = memory()
  await load(home, { cache })
  cache.text = forged(cache.text, '/a.yaml"', '/moved.yaml"')
  expect(await commandOf(home, cache, 'a_0')).toEqual(['echo'])
  expect(cache.writes).toBe(2)
})

test('a cache is read at once: a promise is no text', async () => {
  const home = await agentOf(FILES)
  const cache = { read: async () => '', write: () => {} } as never
  await expect(load(home, { cache })).rejects.toMatchObject({
    code: 'ERR_CONFIG_USAGE',
    message: expect.stringContaining('What read() of the option cache returned is missing or invalid'),
  })
})

test('what is damaged is not used', async () => {
  const home = await agentOf(FILES)
  const whole = memory()
  const fresh = await load(home, { cache: whole })
  const text = whole.text ?? ''
  const damages = [
    '',
    '\n',
    '{}',
    text.slice(0, -1),
    text.slice(0, 64),
    text.replace('echo', 'sudo'),
    `${text}\n`,
  ]
  for (const damaged of [...damages, '\0'.repeat(text.length)]) {
    const cache = memory(damaged)
    expect(await load(home, { cache })).toStrictEqual(fresh)
    expect(cache.text).toBe(text)
  }
})

test.each([
  '5',
  'null',
  'no JSON',
  '[5]',
  '[["DIRECTORY/a.yaml", null]]',
  '[["DIRECTORY/a.yaml", { "digest": "DIGEST", "value": { "tools": [] } }]]',
  '[["DIRECTORY/a.yaml", { "digest": "DIGEST", "value": { "tools": [] }, "made": [5] }]]',
  '[["DIRECTORY/a.yaml", { "digest": "DIGEST", "value": { "tools": [] }, "made": [{ "tool": {} }] }]]',
])('a cache with %s and a checksum that fits is not used, and made anew', async (template) => {
  const home = await agentOf(FILES)
  const whole = memory()
  const fresh = await load(home, { cache: whole })
  const body = template.replace('DIRECTORY', await realpath(home)).replace(
    'DIGEST',
    createHash('sha256')
      .update(FILES['a.yaml'] ?? '')
      .digest('hex'),
  )
  const cache = memory(`${createHash('sha256').update(body).digest('hex')}\n${body}`)
  expect(await load(home, { cache })).toStrictEqual(fresh)
  expect(cache.text).toBe(whole.text)
})

test('what has to be said of a file is said at each load', async () => {
  const home = await agentOf({
    ...FILES,
    'agent.yaml': `name: tester\nllm_config: { model_name: gpt-4o }\nimports: [a.yaml, b.yaml]\n${toolsNamed('own')}`,
    'b.yaml': `${toolsNamed('b')}  - { name: odd, exec: 'echo \${RUN_DIR}', timout_ms: 5 }\nnote: 1\n`,
  })
  const cache = memory()
  const fresh = texts((await load(home)).warnings, home)
  expect(fresh).toHaveLength(4)
  for (let time = 0; time < 3; time += 1)
    expect(texts((await load(home, { cache })).warnings, home)).toEqual(fresh)
  expect(cache.writes).toBe(1)
  expect(cache.text).toContain('own_0')
  expect(cache.text).not.toContain('b_0')
  await expect(load(home, { cache, strict: true })).rejects.toThrow('timout_ms')
})

test('nothing is kept of a load that fails', async () => {
  const home = await agentOf({ ...FILES, 'b.yaml': toolsNamed('b', 'echo | cat') })
  const cache = memory()
  await expect(load(home, { cache })).rejects.toThrow("Shell metacharacter '|'")
  await expect(loadToolsFile(home, { environment: {}, cache })).rejects.toThrow("Shell metacharacter '|'")
  await loadToolsFile(home, { environment: {}, cache, partial: true })
  expect(cache.writes).toBe(0)
})

test('a comment is not kept: no name in it says whether it is secret', async () => {
  const home = await agentOf({ ...FILES, 'a.yaml': `${toolsNamed('a')}# the token was abcdefgh\n` })
  const cache = memory()
  const fresh = await load(home, { cache })
  expect(await load(home, { cache })).toStrictEqual(fresh)
  expect(cache.text).toContain('a_11')
  expect(cache.text).not.toContain('abcdefgh')
})

test('what aliases unfold beyond all measure is loaded and not kept', async () => {
  const aliases = `x-one: &one '${'"'.repeat(3_000_000)}'\nx-all: [${'*one, '.repeat(99)}]\n`
  const home = await agentOf({ ...FILES, 'a.yaml': `${aliases}${toolsNamed('a')}` })
  const cache = memory()
  const { agent } = await load(home, { cache })
  expect(agent.tools.size).toBe(36)
  expect(cache.text).toContain('b_0')
  expect(cache.text).not.toContain('a_0')
})

test.each([
  ['no tools', ''],
  ['a number that JSON has no word for', `x-limit: .inf\n${toolsNamed('own')}`],
  ['minus zero', `x-limit: -0.0\n${toolsNamed('own')}`],
  ['a secret', `x-server: { api_key: abcdefgh }\n${toolsNamed('own')}`],
])('%s: nothing is kept', async (_, lines) => {
  const home = await agentOf({ 'agent.yaml': `${MINIMAL['agent.yaml']}${lines}` })
  const cache = memory()
  const fresh = await load(home)
  for (let time = 0; time < 2; time += 1) expect(await load(home, { cache })).toStrictEqual(fresh)
  expect(cache.writes).toBe(0)
})

test('places in files, origins and the full form are the same', async () => {
  const home = await agentOf({
    ...FILES,
    'agent.yaml': `${MINIMAL['agent.yaml']}version: 1.10\nimports: [a.yaml, b.yaml]\n${toolsNamed('own')}`,
    'b.yaml': toolsNamed('a'),
  })
  const cache = memory()
  const fresh = await load(home)
  expect(fresh.agent).toMatchObject({ version: '1.10', overrides: { length: 12 } })
  const settings = await listSettings(home, { environment: {} })
  const file = await loadToolsFile(home, { environment: {} })
  const names = [...file.tools.keys()]
  for (let time = 0; time < 2; time += 1) {
    expect(await load(home, { cache })).toStrictEqual(fresh)
    expect(await listSettings(home, { environment: {}, cache })).toStrictEqual(settings)
    const again = await loadToolsFile(home, { environment: {}, cache })
    expect(again.document).toStrictEqual(file.document)
    expect(names.map(again.placeOf)).toEqual(names.map(file.placeOf))
  }
  expect(cache.writes).toBe(1)
})

/** Tools as people write them, some of them with mistakes or oddities. */
const anyTools = fc.array(
  fc.record(
    {
      exec: fc.constantFrom(
        'ls ${directory}',
        'rg --max=${max} -- ${pattern}',
        'echo "a b"',
        'a\\ b ${x}${y}',
      ),
      description: fc.string({ unit: 'grapheme' }),
      timeout_ms: fc.integer({ min: 1, max: 1000 }),
      'x-note': fc.jsonValue(),
      allow_dash: fc.boolean(),
    },
    { requiredKeys: ['exec'] },
  ),
  { minLength: 1, maxLength: 5 },
)

test('whatever the tools are, loading them from what was kept changes nothing', async () => {
  const written = fc.record({
    tools: anyTools,
    style: fc.constantFrom<ToStringOptions>({}, { collectionStyle: 'flow' }),
    anchor: fc.boolean(),
    note: fc.constantFrom({}, { timout_ms: 5 }),
  })
  let kept = 0
  await fc.assert(
    fc.asyncProperty(written, async ({ tools, style, anchor, note }) => {
      const named = tools.map((tool, index) => ({ name: `tool_${index}`, ...tool, ...note }))
      const shared = { type: 'string' as const }
      const value = anchor ? { 'x-one': shared, 'x-two': shared, tools: named } : { tools: named }
      const home = await agentOf({
        'agent.yaml': `${MINIMAL['agent.yaml']}imports: [tools.yaml]\n`,
        'tools.yaml': stringify(value, style),
      })
      const cache = memory()
      const fresh = await load(home)
      expect(await load(home, { cache })).toStrictEqual(fresh)
      expect(await load(home, { cache })).toStrictEqual(fresh)
      expect(cache.writes).toBeLessThanOrEqual(1)
      kept += cache.writes
    }),
    { numRuns: 60 },
  )
  expect(kept).toBeGreaterThan(5)
})
