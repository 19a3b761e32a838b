import { createHash } from 'node:crypto'
import type { ChatMessage, FunctionTool } from '@delta/model'
import { areInstalled } from '@delta/testkit'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { followEvents } from '../src/internal.js'
import { estimateTokens } from '../src/tokens.js'
import { history, journalText, placeWith } from './place.js'

const PROMPT = { type: 'file', id: 'prompt', path: '${AGENT_HOME}/prompt.md' }
const JOURNAL = { type: 'journal' }

async function run(iterations: number, observation: string, prompt = 'You count.') {
  const events = history()
  events.user('The task.')
  for (let index = 1; index <= iterations; index++) events.iteration(`thought ${index}`, observation)
  events.user('The latest wish.')
  return placeWith({ 'agent/prompt.md': prompt, 'work/.delta/r1/journal.jsonl': journalText(events.events) })
}

const total = (blocks: readonly { tokens: number }[]) => blocks.reduce((sum, { tokens }) => sum + tokens, 0)
const said = (messages: readonly ChatMessage[], role: string) =>
  messages.filter((message) => message.role === role).map(({ content }) => content)

test('the journal takes what the other sources leave, dropping the oldest iterations whole', async () => {
  const { build } = await run(20, 'x'.repeat(400))
  const { messages, blocks } = await build({ total_max_tokens: 1000, sources: [PROMPT, JOURNAL] })
  expect(total(blocks)).toBeLessThanOrEqual(1000)
  expect(blocks[1]?.note).toMatch(/^dropped the \d+ oldest of 20 iterations to stay within \d+ tokens$/)
  const thoughts = said(messages, 'assistant')
  expect(thoughts.length).toBeGreaterThan(3)
  expect(thoughts).toEqual(Array.from(thoughts, (_, index) => `thought ${20 - thoughts.length + 1 + index}`))
  expect(said(messages, 'user')).toEqual(['The task.', 'The latest wish.'])

  const bounded = await build({ total_max_tokens: 100_000, sources: [{ ...JOURNAL, max_tokens: 500 }] })
  expect(bounded.blocks[0]?.tokens).toBeLessThanOrEqual(500)
  expect(bounded.blocks[0]?.tokens).toBeGreaterThan(350)
})

test('dropped: true marks what the budget left out, within the budget, and once where max_iterations dropped, too', async () => {
  const { build } = await run(20, 'x'.repeat(400))
  const countTokens = (texts: readonly string[]) => texts.map((text) => Math.ceil(text.length / 3))
  for (const options of [{}, { countTokens }])
    for (const max_iterations of [undefined, 15, 1])
      for (let total_max_tokens = 250; total_max_tokens < 1500; total_max_tokens += 50) {
        const journal = { ...JOURNAL, dropped: true, ...(max_iterations && { max_iterations }) }
        const { messages, blocks } = await build({ total_max_tokens, sources: [PROMPT, journal] }, options)
        expect(total(blocks)).toBeLessThanOrEqual(total_max_tokens)
        const count = Number(String(said(messages, 'assistant')[0]).replace('thought ', '')) - 1
        const mark = `[${count} earlier iterations left out]`
        expect(said(messages, 'user')).toEqual(['The task.', mark, 'The latest wish.'])
      }
})

test('max_tokens of a text cuts its end and marks the cut, or leaves out what has no room beside the mark', async () => {
  const { build } = await run(1, 'x', 'Prompt. '.repeat(1000))
  for (let max_tokens = 1; max_tokens <= 200; max_tokens++) {
    const { messages, blocks, warnings } = await build({ sources: [{ ...PROMPT, max_tokens }] })
    expect(blocks[0]?.tokens).toBeLessThanOrEqual(max_tokens)
    if (messages[0]) {
      expect(messages[0].content).toMatch(
        /^# Context Block: prompt\n\nP.*\n\[cut here: the rest exceeds max_tokens\]$/,
      )
      expect(blocks[0]?.note).toMatch(/^cut from 2015 to \d+ tokens \(max_tokens\)$/)
    } else {
      const why = `left out: max_tokens ${max_tokens} is too few for the beginning of its 2015`
      expect(blocks[0]?.note).toBe(why)
      expect(warnings).toEqual([`context.yaml: "prompt" is ${why}. Raise it.`])
      expect(max_tokens).toBeLessThan(30)
    }
  }
  const { messages } = await build({ sources: [PROMPT] })
  expect(messages[0]?.content).toBe(`# Context Block: prompt\n\n${'Prompt. '.repeat(1000)}`)
})

test('a cut never falls within a character', async () => {
  const { build } = await run(1, '🌲'.repeat(2000), '🌲'.repeat(500))
  for (let tokens = 300; tokens < 320; tokens++) {
    const text = await build({ sources: [{ ...PROMPT, max_tokens: tokens - 240 }] })
    const result = await build({ total_max_tokens: tokens, sources: [JOURNAL] })
    expect(said(result.messages, 'tool')[0]).toContain('characters left out')
    for (const { content } of [...text.messages, ...result.messages])
      expect(() => encodeURIComponent(String(content))).not.toThrow() // throws for half a character
  }
})

test('of the last iteration only results are shortened, in the middle and marked', async () => {
  const { build } = await run(3, `begin ${'x'.repeat(8000)} end`)
  const { messages, blocks } = await build({ total_max_tokens: 500, sources: [PROMPT, JOURNAL] })
  expect(total(blocks)).toBeLessThanOrEqual(500)
  const note = 'shortened the results of the last iteration to stay within the budget'
  expect(blocks[1]?.note).toBe(`dropped the 2 oldest iterations and ${note}`)
  expect(said(messages, 'tool')[0]).toMatch(
    /^begin x+\n\[\d+ characters left out to stay within the token budget\]\nx+ end$/,
  )
  expect(said(messages, 'assistant')).toEqual(['thought 3'])
  const alone = await run(1, 'x'.repeat(8000))
  expect((await alone.build({ total_max_tokens: 500, sources: [JOURNAL] })).blocks[0]?.note).toBe(note)
})

test('a budget smaller than what must stay is an error that names the sources, and has what each costs', async () => {
  const { build } = await run(3, 'x', 'Prompt. '.repeat(1000))
  await expect(build({ total_max_tokens: 500, sources: [PROMPT, JOURNAL] })).rejects.toMatchObject({
    code: 'ERR_CONTEXT_BUDGET',
    source: 'prompt',
    blocks: (await build({ sources: [PROMPT, JOURNAL] })).blocks,
    message: expect.stringMatching(
      /^context\.yaml: 500 tokens are too few for what must stay: "prompt" \d+, "journal" at least \d+ for what users said, and the last iteration\.\nRaise total_max_tokens, or give the largest source max_tokens\.$/,
    ),
  })
  const tiny = build({ sources: [{ ...JOURNAL, max_tokens: 5 }] })
  await expect(tiny).rejects.toThrow('5 tokens are too few')
})

test('the definitions of the tools are the first block, and count in total_max_tokens', async () => {
  const { build } = await run(20, 'x'.repeat(400))
  const manifest = { total_max_tokens: 1000, sources: [PROMPT, JOURNAL] }
  const tools = [tool('look', 'Looks. '.repeat(200))]
  const bytes = Buffer.byteLength(JSON.stringify(tools))
  const sha256 = createHash('sha256').update(JSON.stringify(tools)).digest('hex')
  const about = { source_id: 'tools', type: 'tools', messages: 0, bytes, sha256 }
  const withTools = await build(manifest, { tools })
  expect(withTools.blocks[0]).toEqual({ ...about, tokens: Math.ceil(bytes / 4) })
  expect(withTools.blocks.map(({ source_id }) => source_id)).toEqual(['tools', 'prompt', 'journal'])
  expect(total(withTools.blocks)).toBeLessThanOrEqual(1000)
  expect(withTools.messages.length).toBeLessThan((await build(manifest)).messages.length)

  const calibration = { tokens: 500, bytes: 1000 } // of a whole request, tools included
  expect((await build(manifest, { tools, calibration })).blocks[0]?.tokens).toBe(bytes / 2)
  const countTokens = (texts: readonly string[]) => texts.map((text) => text.length)
  const counted = await build({ sources: [JOURNAL] }, { tools, countTokens })
  expect(counted.blocks[0]?.tokens).toBe(bytes + 4)
})

test('tools that leave too little room are named in the error', async () => {
  const { build } = await run(3, 'x')
  const tools = [tool('look', 'Looks. '.repeat(500))]
  await expect(build({ total_max_tokens: 500, sources: [PROMPT, JOURNAL] }, { tools })).rejects.toMatchObject(
    {
      code: 'ERR_CONTEXT_BUDGET',
      source: 'tools',
      message: expect.stringMatching(
        /^context\.yaml: 500 tokens are too few for what must stay: the tools \d+, "prompt" \d+, "journal" at least .*\.\nRaise total_max_tokens, or give the agent fewer tools\.$/,
      ),
    },
  )
  const own = build({ sources: [{ ...JOURNAL, max_tokens: 5 }] }, { tools })
  await expect(own).rejects.toThrow('what must stay: "journal" at least')
})

function tool(name: string, description: string): FunctionTool {
  return { type: 'function', function: { name, description, parameters: { type: 'object', properties: {} } } }
}

test('an estimate is four bytes a token, until the provider has counted', async () => {
  expect(estimateTokens(1000)).toBe(250)
  expect(estimateTokens(1000, { tokens: 500, bytes: 1500 })).toBe(334)
  expect(estimateTokens(1000, { tokens: 0, bytes: 1500 })).toBe(250)
  expect(estimateTokens(1000, { tokens: 1, bytes: 100_000 })).toBe(125)

  const { build } = await run(20, 'x'.repeat(400))
  const manifest = { total_max_tokens: 1000, sources: [PROMPT, JOURNAL] }
  const calibrated = await build(manifest, { calibration: { tokens: 1000, bytes: 2000 } })
  expect(calibrated.messages.length).toBeLessThan((await build(manifest)).messages.length)
  expect(total(calibrated.blocks)).toBeLessThanOrEqual(1000)
})

test('an exact counter is a function, or a program: a JSON string a line in, a number a line out', async () => {
  const { build } = await run(5, 'one two three')
  const words = (text: string) => text.trim().split(/\s+/).length
  const tokens = words('# Context Block: prompt You count.') + 4
  const counted = await build({ sources: [PROMPT] }, { countTokens: (texts) => texts.map(words) })
  expect(counted.blocks[0]?.tokens).toBe(tokens)
  if (!areInstalled('python3')) return
  const program = 'import sys, json\nfor line in sys.stdin: print(len(json.loads(line).split()))\n'
  const token_counter = { command: ['python3', '-c', program] }
  expect((await build({ token_counter, sources: [PROMPT, JOURNAL] })).blocks[0]?.tokens).toBe(tokens)
})

test.each([
  ['exit 1', 'context.yaml: the token counter ended with exit code 1.'],
  ['cat > /dev/null; echo many', 'the token counter gave no whole number for each of 1 texts.'],
  [
    'cat > /dev/null',
    'gave no whole number for each of 1 texts.\nA token_counter reads a JSON string a line',
  ],
  ['cat > /dev/null; echo', 'gave no whole number'], // an empty line does not count 0
  ['cat > /dev/null; echo " "', 'gave no whole number'],
])('a counter that fails or prints no number is an error: %s', async (script, message) => {
  const { build } = await placeWith({ 'agent/prompt.md': 'You count.' })
  const count = build({ token_counter: { command: ['sh', '-c', script] }, sources: [PROMPT] })
  await expect(count).rejects.toThrow(expect.objectContaining({ code: 'ERR_CONTEXT_COUNTER' }))
  await expect(count).rejects.toThrow(message)
})

test('a counter may count 0, a function that counts too few is an error, and a stop ends a program', async () => {
  const { build } = await placeWith({ 'agent/prompt.md': 'You count.' })
  const counting = (...command: string[]) => ({ token_counter: { command }, sources: [PROMPT] })
  // nothing but what a message costs besides its text
  const { blocks } = await build(counting('sh', '-c', 'cat > /dev/null; echo 0'))
  expect(blocks[0]?.tokens).toBe(4)
  await expect(build({ sources: [PROMPT] }, { countTokens: () => [] })).rejects.toThrow(
    'countTokens gave no whole number for each of 1 texts.',
  )
  const controller = new AbortController()
  const options = { signal: controller.signal, onSpawn: () => controller.abort() }
  await expect(build(counting('sleep', '300'), options)).rejects.toMatchObject({
    code: 'ERR_CONTEXT_ABORTED',
  })
})

/** How many bytes of two requests' messages are the same from the beginning. */
function commonBytes(one: readonly ChatMessage[], other: readonly ChatMessage[]): number {
  let bytes = 0
  for (const [index, message] of one.entries()) {
    const text = JSON.stringify(message)
    if (text !== JSON.stringify(other[index])) break
    bytes += text.length
  }
  return bytes
}

test('a full budget is emptied in large steps, so that most of each request is the one before it', async () => {
  const run = history()
  run.user('The task.')
  const { build } = await placeWith()
  let before: ChatMessage[] = []
  const sums = { same: 0, all: 0, breaks: 0 }
  for (let iteration = 1; iteration <= 200; iteration++) {
    run.iteration(`thought ${iteration}`, 'x'.repeat(300 + ((iteration * 37) % 200)))
    // what the provider counts is never quite what it counted before
    const calibration = { tokens: 1000, bytes: 4000 + ((iteration * 7) % 40) }
    const options = { journalPath: run.events, calibration }
    const { messages, blocks } = await build({ total_max_tokens: 5000, sources: [JOURNAL] }, options)
    expect(total(blocks)).toBeLessThanOrEqual(5000)
    expect(messages[0]).toEqual({ role: 'user', content: 'The task.' })

    const same = commonBytes(before, messages)
    sums.same += same
    sums.all += JSON.stringify(messages).length
    if (same < JSON.stringify(before).length - 2 - before.length) sums.breaks += 1
    before = messages
  }
  expect(sums.same / sums.all).toBeGreaterThan(0.85)
  expect(sums.breaks).toBeLessThan(200 / 8)

  const windowed = [{ ...JOURNAL, max_iterations: 150 }] // the steps stand at the same iterations
  const options = { journalPath: run.events }
  const whole = await build({ total_max_tokens: 3000, sources: [JOURNAL] }, options)
  expect((await build({ total_max_tokens: 3000, sources: windowed }, options)).messages).toEqual(
    whole.messages,
  )
})

test('whatever a run looks like: within the budget, nothing users said lost, and more than half of the room used', async () => {
  const { build, write } = await placeWith()
  const event = fc.oneof(
    { weight: 6, arbitrary: fc.nat(2000) },
    { weight: 1, arbitrary: fc.constantFrom('user' as const, 'system' as const) },
  )
  const runs = fc.array(event, { minLength: 1, maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(runs, fc.integer({ min: 1500, max: 6000 }), async (events, budget) => {
      const run = history()
      run.user('The task.')
      for (const [index, size] of events.entries()) {
        if (size === 'user') run.user(`wish ${index}`)
        else if (size === 'system') run.system(`note ${index}`)
        else run.iteration(`thought ${index}`, 'x'.repeat(size))
      }
      const manifest = { total_max_tokens: budget, sources: [JOURNAL] }
      const whole = await build({ sources: [JOURNAL] }, { journalPath: run.events })
      const built = await build(manifest, { journalPath: run.events })
      expect(total(built.blocks)).toBeLessThanOrEqual(budget)
      expect(said(built.messages, 'user')).toEqual(said(whole.messages, 'user'))

      const kept = said(built.messages, 'assistant')
      expect(kept).toEqual(said(whole.messages, 'assistant').slice(-kept.length || Number.MAX_SAFE_INTEGER))
      const largest = 2000 / 4 + 100
      if (built.messages.length < whole.messages.length)
        expect(total(built.blocks)).toBeGreaterThan(budget / 2 - largest)

      const path = await write('work/.delta/r1/journal.jsonl', journalText(run.events))
      for (const journalPath of [path, followEvents(async () => run.events)])
        expect(await build(manifest, { journalPath })).toEqual(built)
    }),
    { numRuns: 60 },
  )
})
