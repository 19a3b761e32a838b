import { expect, test } from 'vitest'
import { findCacheBreak } from '../src/internal.js'
import { history, placeWith } from './place.js'

const SOURCES = [
  { type: 'file', id: 'prompt', path: '${AGENT_HOME}/prompt.md' },
  { type: 'file', id: 'summary', path: '${CWD}/summary.md' },
  { type: 'file', id: 'handbook', path: '${AGENT_HOME}/handbook.md' },
  { type: 'journal' },
]

async function twoRequests(change: { summary?: string; sources?: object[] } = {}) {
  const { build, write } = await placeWith({
    'agent/prompt.md': 'You read.',
    'agent/handbook.md': 'All rules. '.repeat(2000),
    'work/summary.md': 'Known: 1',
  })
  const run = history()
  run.user('Go.')
  for (let index = 0; index < 4; index++) run.iteration('thinking', 'x')
  const manifest = { sources: change.sources ?? SOURCES }
  const before = await build(manifest, { journalPath: run.events })
  if (change.summary) await write('work/summary.md', change.summary)
  run.iteration('next', 'y')
  return findCacheBreak(before, await build(manifest, { journalPath: run.events }))
}

test('a conversation that only grows can be cached to its end', async () => {
  expect(await twoRequests()).toBeUndefined()
})

test('a source that changes before large ones is named, with what it costs', async () => {
  const found = await twoRequests({ summary: 'Known: 2' })
  expect(found).toMatchObject({ source: 'summary' })
  expect(found?.message).toMatch(/^`summary` changed at byte \d+: 5\.\dk tokens after it cannot be cached$/)
  const prefix =
    JSON.stringify({ role: 'system', content: '# Context Block: summary\n\nKnown: ' }).length - '"}'.length
  expect(found?.byte).toBe(prefix)
})

test('dropping the oldest iteration each time is seen as what it is', async () => {
  const sources = [...SOURCES.slice(0, 3), { type: 'journal', id: 'talk', max_iterations: 3 }]
  expect(await twoRequests({ sources })).toMatchObject({ source: 'talk' })
})

test('a source behind the conversation may change each time: nothing that could be cached stands behind it', async () => {
  const [prompt, summary, handbook, journal] = SOURCES
  const sources = [prompt, handbook, journal, summary]
  expect(await twoRequests({ summary: 'Known: 2', sources: sources as object[] })).toBeUndefined()
})

test('the costs are told as people count them', async () => {
  const { build, write } = await placeWith({
    'agent/prompt.md': 'x'.repeat(400),
    'agent/handbook.md': 'y'.repeat(4 * 61_000),
  })
  const sources = [
    { type: 'file', id: 'knowledge_summary', path: '${CWD}/summary.md' },
    { type: 'file', path: '${AGENT_HOME}/handbook.md' },
  ]
  const header =
    JSON.stringify({ role: 'system', content: '# Context Block: knowledge_summary\n\n' }).length - 2
  const request = async (last: string) => {
    await write('work/summary.md', 'x'.repeat(812 - header) + last)
    return build({ sources })
  }
  const found = findCacheBreak(await request('1'), await request('2'))
  expect(found?.message).toBe('`knowledge_summary` changed at byte 812: 61k tokens after it cannot be cached')
})
