import type { ChatMessage } from '@delta/model'
import { expect, test } from 'vitest'
import type { BuiltContext } from '../src/index.js'
import { history, placeWith } from './place.js'

const FILES = { 'agent/prompt.md': 'You count.\n', 'work/DELTA.md': 'Größe zählt.', 'work/TASK.md': 'Now.' }
const PROMPT = { type: 'file', id: 'prompt', path: '${AGENT_HOME}/prompt.md' }
const GUIDE = { type: 'file', id: 'guide', path: '${CWD}/DELTA.md' }
const JOURNAL = { type: 'journal' }

/** The first context of a run in which the user said "Go.". */
async function firstContext(manifest: object, files: Record<string, string> = {}) {
  const { build, options } = await placeWith({ ...FILES, ...files })
  const run = history()
  run.user('Go.')
  const context = await build(manifest, { journalPath: run.events })
  return { ...context, variables: options.variables }
}

const contents = ({ messages }: { messages: readonly ChatMessage[] }) =>
  messages.map(({ role, content }) => `${role}: ${content}`)

/** What the record of a request says of each source, read from the messages that were sent. */
function rangesOf({ messages, blocks }: BuiltContext): (string | undefined)[][] {
  return blocks.map(({ message, from, to, header_bytes }) => {
    if (message === undefined || from === undefined || to === undefined) return []
    const bytes = Buffer.from(String(messages[message]?.content))
    const start = from + (header_bytes ?? 0)
    return [bytes.toString('utf8', from, start), bytes.toString('utf8', start, to)]
  })
}

test('header: false sends texts as they are; a source may have a header of its own', async () => {
  const sources = [PROMPT, { ...GUIDE, header: '== ${id} ==' }, { ...GUIDE, header: true }, JOURNAL]
  expect(contents(await firstContext({ header: false, sources }))).toEqual([
    'system: You count.\n',
    'system: == guide ==\n\nGröße zählt.',
    'system: # Context Block: guide\n\nGröße zählt.',
    'user: Go.',
  ])
  const all = await firstContext({ header: '<${id}>', sources: [PROMPT, { ...GUIDE, header: false }] })
  expect(contents(all)).toEqual(['system: <prompt>\n\nYou count.\n', 'system: Größe zählt.'])
})

test('a source without id is named by its path without the variable', async () => {
  const { blocks } = await firstContext({
    sources: [
      { type: 'file', path: '${AGENT_HOME}/prompt.md' },
      { type: 'computed_file', generator: { command: ['echo', 'x'] }, output_path: '${RUN_DIR}/sub/x.md' },
      { type: 'text', text: 'x' },
      JOURNAL,
    ],
  })
  expect(blocks.map(({ source_id }) => source_id)).toEqual(['prompt.md', 'sub/x.md', 'text', 'journal'])
})

test('a source is a system, developer or user message; a text in the recipe has the engine’s variables and no others', async () => {
  const text = 'In ${CWD}, for ${AGENT_HOME} and ${RUN_DIR}: ${HOME} $CWD \\${CWD} \\${x}'
  const sources = [
    { ...PROMPT, role: 'developer' },
    { ...GUIDE, role: 'user' },
    { type: 'text', text },
  ]
  const { messages, variables } = await firstContext({ header: false, sources })
  const { CWD, AGENT_HOME, RUN_DIR } = variables
  expect(messages).toEqual([
    { role: 'developer', content: 'You count.\n' },
    { role: 'user', content: 'Größe zählt.' },
    { role: 'system', content: `In ${CWD}, for ${AGENT_HOME} and ${RUN_DIR}: \${HOME} $CWD \${CWD} \${x}` },
  ])
})

test('merge: true sends neighbouring sources of one role as one message, with one blank line between two', async () => {
  const missing = { type: 'file', path: '${CWD}/no.md', on_missing: 'skip', role: 'user' }
  const task = { type: 'file', id: 'task', path: '${CWD}/TASK.md', role: 'user' }
  const text = { type: 'text', text: 'Be "brief".' }
  const sources = [PROMPT, missing, GUIDE, text, task, JOURNAL, { ...text, id: 'last' }]
  const context = await firstContext({ merge: true, sources })
  expect(contents(context)).toEqual([
    'system: # Context Block: prompt\n\nYou count.\n\n# Context Block: guide\n\nGröße zählt.\n\n# Context Block: text\n\nBe "brief".',
    'user: # Context Block: task\n\nNow.',
    'user: Go.',
    'system: # Context Block: last\n\nBe "brief".',
  ])
  expect(rangesOf(context)).toEqual([
    ['# Context Block: prompt\n\n', 'You count.\n'],
    [],
    ['# Context Block: guide\n\n', 'Größe zählt.'],
    ['# Context Block: text\n\n', 'Be "brief".'],
    ['# Context Block: task\n\n', 'Now.'],
    [],
    ['# Context Block: last\n\n', 'Be "brief".'],
  ])
  expect(context.blocks.map(({ message, messages, note }) => [message, messages, note])).toEqual([
    [0, 1, undefined],
    [undefined, 0, 'left out: missing'],
    [0, 1, 'in one message with prompt'],
    [0, 1, 'in one message with guide'],
    [1, 1, undefined],
    [2, 1, undefined],
    [3, 1, undefined],
  ])
})

test('the bytes of all sources are those of the messages, merged or not, and each keeps its SHA-256', async () => {
  const bare = { ...PROMPT, id: 'bare', header: false }
  const sources = [PROMPT, GUIDE, bare, { ...GUIDE, id: 'again', role: 'developer' }, JOURNAL]
  const apart = await firstContext({ sources })
  const merged = await firstContext({ merge: true, sources })
  expect(merged.messages).toHaveLength(3)
  expect(rangesOf(merged)).toEqual(rangesOf(apart))
  for (const { blocks, messages } of [apart, merged]) {
    const bytes = messages.map((message) => Buffer.byteLength(JSON.stringify(message)))
    expect(blocks.reduce((sum, block) => sum + block.bytes, 0)).toBe(bytes.reduce((sum, one) => sum + one))
  }
  expect(merged.blocks.map(({ sha256 }) => sha256)).toEqual(apart.blocks.map(({ sha256 }) => sha256))
})

test('a text above a blank line is joined without another one', async () => {
  const sources = [PROMPT, { type: 'text', text: 'Next.' }, JOURNAL]
  const manifest = { header: false, merge: true, sources }
  for (const [end, between] of [
    ['', '\n\n'],
    ['\n', '\n'],
    ['\n\n', ''],
    ['\n\n\n', ''],
  ]) {
    const { messages } = await firstContext(manifest, { 'agent/prompt.md': `One${end}` })
    expect(messages[0]?.content).toBe(`One${end}${between}Next.`)
  }
})

test('max_tokens cuts the end of each source of a merged message, also of one without a header', async () => {
  const long = { type: 'text', text: 'Words. '.repeat(500), max_tokens: 100 }
  const sources = [long, { ...long, id: 'bare', header: false }, JOURNAL]
  const context = await firstContext({ merge: true, total_max_tokens: 500, sources })
  const ranges = rangesOf(context)
  expect(context.messages).toHaveLength(2)
  for (const [index, header] of ['# Context Block: text\n\n', ''].entries()) {
    expect(ranges[index]).toEqual([header, expect.stringMatching(/^(Words\. )+.*\n\[cut here: .*\]$/)])
    expect(context.blocks[index]?.tokens).toBeLessThanOrEqual(100)
    expect(context.blocks[index]?.note).toMatch(/^cut from \d+ to \d+ tokens \(max_tokens\)/)
  }
  await expect(firstContext({ merge: true, total_max_tokens: 150, sources })).rejects.toThrow(
    '150 tokens are too few for what must stay: "text"',
  )
})
