import { areInstalled } from '@delta/testkit'
import { expect, test } from 'vitest'
import { estimateTokens } from '../src/internal.js'
import { history, journalText, placeWith } from './place.js'

const PROMPT = { type: 'file', id: 'prompt', path: '${AGENT_HOME}/prompt.md' }

async function run(iterations: number, observation: string, prompt = 'You count.') {
  const events = history()
  events.user('The task.')
  for (let index = 1; index <= iterations; index++) events.iteration(`thought ${index}`, observation)
  events.user('The latest wish.')
  return placeWith({ 'agent/prompt.md': prompt, 'work/.delta/r1/journal.jsonl': journalText(events.events) })
}

const total = (blocks: readonly { tokens: number }[]) => blocks.reduce((sum, { tokens }) => sum + tokens, 0)

test('the journal takes what the other sources leave, dropping the oldest iterations whole', async () => {
  const { build } = await run(20, 'x'.repeat(400))
  const { messages, blocks } = await build({ total_max_tokens: 1000, sources: [PROMPT, { type: 'journal' }] })
  expect(total(blocks)).toBeLessThanOrEqual(1000)
  expect(blocks[1]?.note).toMatch(/^dropped the \d+ oldest of 20 iterations to stay within \d+ tokens$/)

  const thoughts = messages.filter(({ role }) => role === 'assistant').map(({ content }) => content)
  expect(thoughts.length).toBeGreaterThan(3)
  expect(thoughts).toEqual(Array.from(thoughts, (_, index) => `thought ${20 - thoughts.length + 1 + index}`))
  expect(messages.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual([
    'The task.',
    'The latest wish.',
  ])
  for (const [index, { role }] of messages.entries()) {
    if (role === 'assistant') expect(messages[index + 1]?.role).toBe('tool')
  }
})

test('dropped: true marks what the budget left out, within the budget, and once where max_iterations dropped, too', async () => {
  const { build } = await run(20, 'x'.repeat(400))
  const countTokens = (texts: readonly string[]) => texts.map((text) => Math.ceil(text.length / 3))
  for (const options of [{}, { countTokens }])
    for (const max_iterations of [undefined, 15, 1])
      for (let total_max_tokens = 250; total_max_tokens < 1500; total_max_tokens += 50) {
        const journal = { type: 'journal', dropped: true, ...(max_iterations && { max_iterations }) }
        const { messages, blocks } = await build({ total_max_tokens, sources: [PROMPT, journal] }, options)
        expect(total(blocks)).toBeLessThanOrEqual(total_max_tokens)
        const first = messages.find(({ role }) => role === 'assistant')
        const count = Number(String(first?.content).replace('thought ', '')) - 1
        const users = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
        expect(users).toEqual(['The task.', `[${count} earlier iterations left out]`, 'The latest wish.'])
      }
  const { messages } = await build({
    total_max_tokens: 10_000,
    sources: [{ type: 'journal', dropped: true }],
  })
  expect(messages.filter(({ role }) => role === 'user')).toHaveLength(2)
})

test('what users say between iterations takes its room once', async () => {
  const events = history()
  events.user('The task.')
  for (let index = 1; index <= 20; index++) events.iteration(`thought ${index}`, 'x'.repeat(400))
  events.user(`The latest wish: ${'x'.repeat(1600)}`)
  const { build } = await placeWith({ 'work/.delta/r1/journal.jsonl': journalText(events.events) })
  const { blocks } = await build({ total_max_tokens: 1000, sources: [{ type: 'journal' }] })
  expect(total(blocks)).toBeGreaterThan(700)
  expect(total(blocks)).toBeLessThanOrEqual(1000)
})

test('max_tokens of the journal bounds it, whatever the whole may have', async () => {
  const { build } = await run(20, 'x'.repeat(400))
  const { blocks } = await build({
    total_max_tokens: 100_000,
    sources: [PROMPT, { type: 'journal', max_tokens: 500 }],
  })
  expect(blocks[1]?.tokens).toBeLessThanOrEqual(500)
  expect(blocks[1]?.tokens).toBeGreaterThan(350)
})

test('a text with max_tokens is cut at its end, which is marked; one without stays whole', async () => {
  const { build } = await run(1, 'x', 'Prompt. '.repeat(1000))
  const { messages, blocks } = await build({
    sources: [{ ...PROMPT, max_tokens: 200 }, PROMPT, { type: 'journal' }],
  })
  expect(blocks[0]?.tokens).toBeLessThanOrEqual(200)
  expect(blocks[0]?.tokens).toBeGreaterThan(150)
  expect(blocks[0]?.note).toMatch(/^cut from \d+ to \d+ tokens \(max_tokens\)$/)
  expect(messages[0]?.content).toMatch(
    /^# Context Block: prompt\n\n(Prompt\. )+.*\n\[cut here: the rest exceeds max_tokens\]$/,
  )
  expect(messages[1]?.content).toBe(`# Context Block: prompt\n\n${'Prompt. '.repeat(1000)}`)
})

test('max_tokens holds however small it is: what has no room beside the mark of a cut is left out and told', async () => {
  const { build } = await run(1, 'x', 'Prompt. '.repeat(1000))
  for (let max_tokens = 1; max_tokens <= 80; max_tokens++) {
    const sources = [{ ...PROMPT, max_tokens }, { type: 'journal' }]
    const { messages, blocks, warnings } = await build({ sources })
    expect(blocks[0]?.tokens).toBeLessThanOrEqual(max_tokens)
    if (messages[0]?.role === 'system')
      expect(messages[0].content).toMatch(/^# Context Block: prompt\n\nP.*\n\[cut here: .*\]$/)
    else {
      expect(blocks[0]?.note).toBe(
        `left out: max_tokens ${max_tokens} is too few for the beginning of its 2015`,
      )
      expect(warnings).toEqual([
        `context.yaml: "prompt" is left out: max_tokens ${max_tokens} is too few for the beginning of its 2015. Raise it.`,
      ])
    }
  }
  const { messages } = await build({ sources: [{ ...PROMPT, max_tokens: 30 }, { type: 'journal' }] })
  expect(messages[0]?.content).toMatch(/^# Context Block: prompt\n\nP.*\n\[cut here: .*\]$/)
})

test('a cut never falls within a character', async () => {
  const { build } = await run(1, 'x', '🌲'.repeat(500))
  for (let max_tokens = 60; max_tokens < 70; max_tokens++) {
    const { messages } = await build({ sources: [{ ...PROMPT, max_tokens }, { type: 'journal' }] })
    expect(() => encodeURIComponent(String(messages[0]?.content))).not.toThrow() // throws for half a character
  }
  const { build: buildResult } = await run(1, '🌲'.repeat(2000))
  for (let total_max_tokens = 300; total_max_tokens < 320; total_max_tokens++) {
    const { messages } = await buildResult({ total_max_tokens, sources: [{ type: 'journal' }] })
    const result = messages.find(({ role }) => role === 'tool')
    expect(result?.content).toContain('characters left out')
    expect(() => encodeURIComponent(String(result?.content))).not.toThrow()
  }
})

test('of the last iteration only results are shortened, in the middle and marked', async () => {
  const { build } = await run(3, `begin ${'x'.repeat(8000)} end`)
  const { messages, blocks } = await build({ total_max_tokens: 500, sources: [PROMPT, { type: 'journal' }] })
  expect(total(blocks)).toBeLessThanOrEqual(500)
  expect(blocks[1]?.note).toContain(
    'dropped the 2 oldest iterations and shortened the results of the last iteration',
  )
  const alone = await (await run(1, 'x'.repeat(8000))).build({
    total_max_tokens: 500,
    sources: [{ type: 'journal' }],
  })
  expect(alone.blocks[0]?.note).toBe('shortened the results of the last iteration to stay within the budget')
  const result = messages.find(({ role }) => role === 'tool')
  expect(result?.content).toMatch(
    /^begin x+\n\[\d+ characters left out to stay within the token budget\]\nx+ end$/,
  )
  expect(messages.find(({ role }) => role === 'assistant')?.content).toBe('thought 3')
})

test('a budget smaller than what must stay is an error that names the sources', async () => {
  const { build } = await run(3, 'x', 'Prompt. '.repeat(1000))
  await expect(
    build({ total_max_tokens: 500, sources: [PROMPT, { type: 'journal' }] }),
  ).rejects.toMatchObject({
    code: 'ERR_CONTEXT_BUDGET',
    source: 'prompt',
    message: expect.stringMatching(
      /^context\.yaml: 500 tokens are too few for what must stay: "prompt" \d+, "journal" at least \d+ for what users said, and the last iteration\.\nRaise total_max_tokens, or give the largest source max_tokens\.$/,
    ),
  })
  await expect(build({ sources: [{ type: 'journal', max_tokens: 5 }] })).rejects.toThrow(
    '5 tokens are too few',
  )
})

test('an estimate is four bytes a token, until the provider has counted', () => {
  expect(estimateTokens(1000)).toBe(250)
  expect(estimateTokens(1000, { tokens: 500, bytes: 1500 })).toBe(334)
  expect(estimateTokens(1000, { tokens: 0, bytes: 1500 })).toBe(250)
  expect(estimateTokens(1000, { tokens: 1, bytes: 100_000 })).toBe(125)
})

test('what the provider counted makes the budget true', async () => {
  const { build } = await run(20, 'x'.repeat(400))
  const manifest = { total_max_tokens: 1000, sources: [PROMPT, { type: 'journal' }] }
  const estimated = await build(manifest)
  const calibrated = await build(manifest, { calibration: { tokens: 1000, bytes: 2000 } })
  expect(calibrated.messages.length).toBeLessThan(estimated.messages.length)
  expect(total(calibrated.blocks)).toBeLessThanOrEqual(1000)
})

test('an exact counter can be a function', async () => {
  const { build } = await run(5, 'one two three')
  const countTokens = (texts: readonly string[]) => texts.map((text) => text.split(/\s+/).length)
  const { blocks } = await build({ sources: [PROMPT, { type: 'journal' }] }, { countTokens })
  expect(blocks[0]?.tokens).toBe('# Context Block: prompt You count.'.split(' ').length + 4)
})

const COUNT_WORDS = 'import sys, json\nfor line in sys.stdin: print(len(json.loads(line).split()))\n'

test.skipIf(!areInstalled('python3'))(
  'an exact counter can be a program: a JSON string a line in, a number a line out',
  async () => {
    const { build, write } = await run(5, 'one two three')
    await write('agent/count.py', COUNT_WORDS)
    const manifest = {
      token_counter: { command: ['python3', '${AGENT_HOME}/count.py'] },
      sources: [PROMPT, { type: 'journal' }],
    }
    const { blocks } = await build(manifest)
    expect(blocks[0]?.tokens).toBe(10)
  },
)

test('a counter that fails or talks nonsense is an error', async () => {
  const { build } = await run(1, 'x')
  const count = (script: string) =>
    build({ token_counter: { command: ['sh', '-c', script] }, sources: [{ type: 'journal' }] })
  await expect(count('exit 1')).rejects.toThrow('context.yaml: the token counter ended with exit code 1.')
  await expect(count('cat > /dev/null; echo many')).rejects.toThrow(
    'context.yaml: the token counter gave no whole number for each of 4 texts.\nA token_counter reads a JSON string a line, and prints a number a line.',
  )
})

test('stopping the run stops a counter', async () => {
  const { build } = await run(1, 'x')
  const controller = new AbortController()
  const manifest = { token_counter: { command: ['sleep', '300'] }, sources: [{ type: 'journal' }] }
  const building = build(manifest, { signal: controller.signal, onSpawn: () => controller.abort() })
  await expect(building).rejects.toMatchObject({ code: 'ERR_CONTEXT_ABORTED' })
})

test('a counter that prints nothing, or an empty line, does not count 0; a 0 does', async () => {
  const { build } = await placeWith({ 'agent/prompt.md': 'You count.' })
  const count = (script: string) =>
    build({ token_counter: { command: ['sh', '-c', script] }, sources: [PROMPT] })
  for (const script of ['cat > /dev/null', 'cat > /dev/null; echo', 'cat > /dev/null; echo " "'])
    await expect(count(script)).rejects.toThrow('gave no whole number for each of 1 texts.')
  // nothing but what a message costs besides its text
  await expect(count('cat > /dev/null; echo 0')).resolves.toMatchObject({ blocks: [{ tokens: 4 }] })
  const countTokens = () => []
  await expect(build({ sources: [PROMPT] }, { countTokens })).rejects.toMatchObject({
    code: 'ERR_CONTEXT_COUNTER',
    message: expect.stringContaining('countTokens gave no whole number for each of 1 texts.'),
  })
})

test('a hundred iterations fit into 4,000 tokens, and the task is in each of them', async () => {
  const events = history()
  events.user('The task: find the treasure.')
  const { build } = await placeWith({ 'agent/prompt.md': 'You seek.' })
  for (let index = 1; index <= 100; index++) {
    const { messages, blocks } = await build(
      { total_max_tokens: 4000, sources: [PROMPT, { type: 'journal' }] },
      { journalPath: events.events },
    )
    expect(total(blocks)).toBeLessThanOrEqual(4000)
    expect(messages.filter(({ role }) => role === 'user')).toHaveLength(1)
    events.iteration(`thought ${index}`, `observation ${index} ${'y'.repeat((index * 37) % 3000)}`)
  }
})
