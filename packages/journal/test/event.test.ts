import { expect, test } from 'vitest'
import { problemOf } from '../src/event.js'
import { eventSchemas } from '../src/events.js'
import { journalFile, oneOfEach } from './helpers.js'
import { isKnownEvent, journalJsonSchema, openJournal, runEventSchema } from './of-runs.js'

const eventProblem = (value: unknown) => problemOf(value, runEventSchema)

test('every type of event is known, and written as the schema says', () => {
  const events = oneOfEach()
  expect(new Set(events.map((event) => event.type))).toEqual(new Set(Object.keys(eventSchemas)))
  for (const event of events) {
    expect(eventProblem(event)).toBeUndefined()
    expect(isKnownEvent(event)).toBe(true)
  }
})

test('an event that is refused says which field is wrong', () => {
  const [start, message, thought] = oneOfEach()
  expect(eventProblem({ ...message, content: 1 })).toBe(
    'USER_MESSAGE: "content" is not a valid string or array',
  )
  expect(eventProblem({ ...start, seq: 0 })).toBe('ENGINE_START: "seq" is not a positive whole number')
  expect(eventProblem({ ...thought, tool_calls: [{}] })).toBe(
    'THOUGHT: "tool_calls.0.id" is not a valid string',
  )
  expect(eventProblem({ seq: 1 })).toBe('it has no "type"')
  expect(eventProblem([])).toBe('it is not a JSON object')
  const end = oneOfEach().at(-1)
  expect(eventProblem({ ...end, status: 'DONE' })).toBe(
    'ENGINE_END: "status" is not one of RUNNING, WAITING_FOR_INPUT, COMPLETED, FAILED, INTERRUPTED',
  )
})

const paid = {
  tokens: { input: 100, cache_read: 20, cache_write: 0, output: 9, reasoning: 0, adjusted: ['outside'] },
  model: 'gpt-5-mini',
  provider: 'openai',
  price: { input: 0.25, cache_read: 0.025, output: 2 },
  waited_ms: 12,
}
const image = { type: 'image', blob: 'ab'.repeat(32), media_type: 'image/png', bytes: 3, width: 1, height: 1 }

test.each([
  [
    'ENGINE_START',
    { parent: { run_id: 'r', directory: '/r', iteration: 2, seq: 9, sha256: 'ab' }, paths: [['/a', '/b']] },
  ],
  [
    'ENGINE_START',
    { replay: { model: 'recorded', tools: 'live' }, agent_package: { name: 'a', version: '1.0.0' } },
  ],
  [
    'ENGINE_START',
    { imported: { format: 'atif', sha256: 'ab' }, sandbox: { with: 'bwrap', version: '0.8' } },
  ],
  [
    'USER_MESSAGE',
    { content: [{ type: 'text', text: 'What is it?', prompt_cache: '1h' }, image], inbox_id: 'i' },
  ],
  ['THOUGHT', { ...paid, inherited: true }],
  ['ERROR', { ...paid, usage: null, price: null }],
  ['ACTION_REQUEST', { stdin_sha256: 'ab', sandbox: { with: 'bwrap', argv: ['bwrap', '--'] } }],
  [
    'ACTION_RESULT',
    { parts: [image], child_runs: [{ run_id: 'c', directory: 'c', status: null }], replayed: true },
  ],
  ['ENGINE_END', { totals: { own: { cost: null } }, reason_code: 'answered', warnings: [] }],
])('what forks, replays, costs and images add to %s is part of the format: %j', (type, more) => {
  const event = oneOfEach().find((each) => each.type === type)
  expect(eventProblem({ ...event, ...more })).toBeUndefined()
  const [name = ''] = Object.keys(more)
  expect(eventProblem({ ...event, ...more, [name]: 5 })).toMatch(`${type}: "${name}`)
})

test('types of tomorrow are events, and known to be unknown', () => {
  const event = { seq: 1, timestamp: '2030-01-01T00:00:00.000Z', type: 'DREAM', payload: { depth: 2 } }
  expect(eventProblem(event)).toBeUndefined()
  expect(isKnownEvent(event)).toBe(false)
})

test('the JSON Schema names every type and forbids no further field', () => {
  const schema = JSON.stringify(journalJsonSchema())
  for (const type of Object.keys(eventSchemas)) expect(schema).toContain(`"const":"${type}"`)
  expect(schema).not.toContain('additionalProperties":false')
})

test('an event that would be written as something else is refused before anything is written', () => {
  const journal = openJournal(journalFile(''))
  const append = () => journal.append({ type: 'NOTE', toJSON: () => undefined } as never)
  expect(append).toThrow(/Refused to append an event: it is not JSON/)
  journal.append({ type: 'NOTE', toJSON: 'a field like any other' } as never)
  expect(journal.lastSeq).toBe(1)
  journal.close()
})
