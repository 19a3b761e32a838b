import type { ChatMessage } from '@delta/model'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { followEvents } from '../src/internal.js'
import { history, journalText, placeWith } from './place.js'

const MANIFEST = (total_max_tokens: number) => ({ total_max_tokens, sources: [{ type: 'journal' }] })
const total = (blocks: readonly { tokens: number }[]) => blocks.reduce((sum, { tokens }) => sum + tokens, 0)
const said = (messages: readonly ChatMessage[], role: string) =>
  messages.filter((message) => message.role === role).map(({ content }) => content)

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
    const { messages, blocks } = await build(MANIFEST(5000), { journalPath: run.events, calibration })
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
      const whole = await build({ sources: [{ type: 'journal' }] }, { journalPath: run.events })
      const built = await build(MANIFEST(budget), { journalPath: run.events })
      expect(total(built.blocks)).toBeLessThanOrEqual(budget)
      expect(said(built.messages, 'user')).toEqual(said(whole.messages, 'user'))

      const kept = said(built.messages, 'assistant')
      expect(kept).toEqual(said(whole.messages, 'assistant').slice(-kept.length || Number.MAX_SAFE_INTEGER))
      const largest = 2000 / 4 + 100
      if (built.messages.length < whole.messages.length)
        expect(total(built.blocks)).toBeGreaterThan(budget / 2 - largest)

      const path = await write('work/.delta/r1/journal.jsonl', journalText(run.events))
      for (const journalPath of [path, followEvents(async () => run.events)])
        expect(await build(MANIFEST(budget), { journalPath })).toEqual(built)
    }),
    { numRuns: 60 },
  )
})

test('a window of iterations moves the budget’s steps nowhere: they stand at the same iterations', async () => {
  const run = history()
  run.user('The task.')
  const { build, write } = await placeWith()
  for (let iteration = 1; iteration <= 90; iteration++) run.iteration(`thought ${iteration}`, 'x'.repeat(400))
  const path = await write('work/.delta/r1/journal.jsonl', journalText(run.events))
  const windowed = { total_max_tokens: 3000, sources: [{ type: 'journal', max_iterations: 50 }] }
  const { messages } = await build(windowed, { journalPath: path })
  expect(messages).toEqual((await build(MANIFEST(3000), { journalPath: path })).messages)
})
