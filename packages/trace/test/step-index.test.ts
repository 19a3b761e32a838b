import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type IndexedStep, indexSteps, type StepIndex } from '../src/step-index.js'
import { journalOf, numbered, place, request, result, start, thought, user } from './runs.js'

/** What the index should say, from a journal whose lines are parsed one by one. */
function parsedIndex(text: string): StepIndex {
  const steps: IndexedStep[] = []
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  let waiting: { offset: number; startedMs: number; events: number } | undefined
  let [offset, events, engine] = [0, 0, 0]
  const engines: { offset: number; before: number | undefined }[] = []
  let lineBefore: number | undefined
  for (const line of whole.split('\n').slice(0, -1)) {
    const end = offset + Buffer.byteLength(line) + 1
    if (line.trim() !== '') {
      events += 1
      const { type, iteration, timestamp } = JSON.parse(line) as Record<string, unknown>
      if (type === 'ENGINE_START') {
        engine = offset
        engines.push({ offset, before: lineBefore })
      }
      lineBefore = offset
      const atMs = Date.parse(String(timestamp))
      if (typeof iteration !== 'number') {
        waiting ??= { offset, startedMs: atMs, events: 0 }
        waiting.events += 1
      } else {
        const before = waiting ?? { offset, startedMs: atMs, events: 0 }
        const last = steps.at(-1)
        if (last && iteration <= last.n)
          Object.assign(last, { end, endedMs: atMs, events: last.events + (waiting?.events ?? 0) + 1 })
        else steps.push({ n: iteration, ...before, end, engine, endedMs: atMs, events: before.events + 1 })
        waiting = undefined
      }
    }
    offset = end
  }
  return { steps, engines, events, bytes: Buffer.byteLength(whole) }
}

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.constant('"iteration":9,"type":"THOUGHT"'),
)
const iteration = fc.integer({ min: 1, max: 6 })
const event = fc.oneof(
  text.map((content) => user(content)),
  fc.constant(start()),
  fc.tuple(iteration, text).map(([n, content]) => thought(n, { content })),
  iteration.map((n) => request(n, 'a')),
  fc.tuple(iteration, text).map(([n, observation_content]) => result(n, 'a', { observation_content })),
  fc.tuple(iteration, text).map(([n, content]) => thought(n, { content: content.repeat(400) })),
)
/** A line of this engine, of another program (its fields in another order, spaces between them), or blank. */
const line = fc.oneof(
  { weight: 6, arbitrary: event.map((said) => JSON.stringify(numbered(said, 1))) },
  {
    weight: 2,
    arbitrary: event.map((said) =>
      JSON.stringify(Object.fromEntries(Object.entries(numbered(said, 1)).reverse()), null, 1).replaceAll(
        '\n',
        ' ',
      ),
    ),
  },
  {
    weight: 2,
    arbitrary: event.map((said) => {
      const { iteration: n, ...head } = numbered(said, 1) as { iteration?: number }
      return JSON.stringify({ ...head, iteration: n }) // what this engine writes first, it is written last
    }),
  },
  { weight: 1, arbitrary: text.map((note) => JSON.stringify({ type: 'NOTE', note, timestamp: 'never' })) },
  { weight: 1, arbitrary: fc.constantFrom('', ' ', '\t \r') },
)
const journal = fc
  .tuple(fc.array(line, { maxLength: 25 }), fc.constantFrom('', '{"seq":9,"timestamp":"2026', '{}'))
  .map(([lines, torn]) => `${lines.map((each) => `${each}\n`).join('')}${torn}`)

test('the index of a journal says what parsing each of its lines says', async () => {
  const { path } = await place()
  const file = join(path, 'journal.jsonl')
  await fc.assert(
    fc.asyncProperty(journal, async (content) => {
      await writeFile(file, content)
      expect(indexSteps(file)).toEqual(parsedIndex(content))
    }),
  )
})

test('a line that is longer than any buffer, or ends where one does, is found', async () => {
  const long = journalOf([start(), thought(1, { content: 'a'.repeat(3 << 20) }), thought(2)])
  const { path } = await place({ 'journal.jsonl': long })
  expect(indexSteps(join(path, 'journal.jsonl'))).toEqual(parsedIndex(long))
  for (const spare of [-1, 0, 1]) {
    const first = JSON.stringify(numbered(thought(1, { content: '' }), 1)).length + 1
    const ending = journalOf([thought(1, { content: 'a'.repeat((1 << 20) - first + spare) }), thought(2)])
    await writeFile(join(path, 'journal.jsonl'), ending)
    expect(indexSteps(join(path, 'journal.jsonl'))).toEqual(parsedIndex(ending))
  }
})

test('a journal that is not there, or empty, has no steps', async () => {
  const { path } = await place({ empty: '' })
  const nothing = { steps: [], engines: [], events: 0, bytes: 0 }
  expect(indexSteps(join(path, 'none'))).toEqual(nothing)
  expect(indexSteps(join(path, 'empty'))).toEqual(nothing)
})

test('what was said after the last answer, and a resumed engine, are of no step yet', async () => {
  const said = [start(), user('Go'), thought(1), start({ resumed: true }), user('More')]
  const { path } = await place({ 'journal.jsonl': journalOf(said) })
  const { steps, events } = indexSteps(join(path, 'journal.jsonl'))
  expect(events).toBe(5)
  expect(steps).toMatchObject([{ n: 1, offset: 0, events: 3 }])
})
