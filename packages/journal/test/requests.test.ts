import { hash } from 'node:crypto'
import { appendFileSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { afterTest, firstEvents, readText, temporaryDirectory, thought } from './helpers.js'
import { createRun, openRun, type Run, readRequest } from './of-runs.js'

async function newRun(options: { sync?: boolean } = {}) {
  return await createRun(temporaryDirectory(), { events: firstEvents, ...options })
}

const turn = (index: number) => ({ role: index % 2 ? 'assistant' : 'user', content: `turn ${index}` })
const turns = (count: number) => Array.from({ length: count }, (_, index) => turn(index))
/** The last of them is the first that its record does not hold whole. */
function recordEleven(run: Run): void {
  for (let iteration = 1; iteration <= 11; iteration++)
    run.requests.record({ iteration, request: { messages: turns(3) } })
}
const records = (directory: string) =>
  readdirSync(directory)
    .sort()
    .map((name) => JSON.parse(readText(join(directory, name))))

test('any request is given back byte for byte, also after the run was opened again', async () => {
  const first = await newRun()
  const bodies = new Map<number, string>()
  for (let iteration = 1; iteration <= 6; iteration++) {
    const { body } = first.requests.record({
      iteration,
      request: { model: 'm', messages: turns(iteration), stream: true },
    })
    bodies.set(iteration, body.toString())
  }
  first.close()
  const second = await openRun(first.directory)
  for (let iteration = 7; iteration <= 12; iteration++) {
    const { body } = second.requests.record({
      iteration,
      request: { messages: turns(iteration), temperature: 0.5 },
    })
    bodies.set(iteration, body.toString())
  }
  second.close()
  for (const [iteration, body] of bodies) expect(await readRequest(first.directory, iteration)).toBe(body)
})

test('what is sent again is not written again: 300 growing requests leave 300 messages and one set of parameters', async () => {
  const run = await newRun({ sync: false }) // else each file stays open until an event is synced, and there are none
  for (let iteration = 1; iteration <= 300; iteration++) {
    run.requests.record({ iteration, request: { model: 'm', messages: turns(iteration) } }).complete({
      response: {},
    })
  }
  run.close()
  const lines = readText(run.paths.parts).trimEnd().split('\n')
  expect(lines).toHaveLength(301)
  const last = records(run.paths.invocations).at(-1)
  expect(last.parts).toEqual({ parameters: 1, messages: [[2, 301]] })
  expect(last.request).toBeUndefined()
})

test('a hook may rewrite a request as it likes: in another order, shortened, or without messages at all', async () => {
  const run = await newRun()
  const requests = [
    { model: 'm', messages: turns(4) },
    { messages: [turn(3), { role: 'system', content: 'summary' }, turn(0), turn(3)], model: 'm' },
    { model: 'm', messages: 'not a list', extra: { nested: [1, null] } },
    { model: 'm', messages: [] },
    { model: 'm' },
  ]
  for (const [index, request] of requests.entries()) run.requests.record({ iteration: index + 1, request })
  run.close()
  for (const [index, request] of requests.entries()) {
    expect(await readRequest(run.directory, index + 1)).toBe(JSON.stringify(request))
  }
})

/** Requests as agents, windows and hooks make them of the one before. */
const anyRequests = fc.array(
  fc.record({
    keep: fc.nat(6),
    add: fc.array(fc.oneof(fc.jsonValue(), fc.constant(undefined)), { maxLength: 3 }),
    drop: fc.nat(1),
    before: fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue(), { maxKeys: 2 }),
    model: fc.constantFrom('m', 'n', undefined),
  }),
  { minLength: 1, maxLength: 8 },
)

test('whatever a request holds, and however it follows from the one before, its parts give its body back', async () => {
  await fc.assert(
    fc.asyncProperty(anyRequests, async (steps) => {
      const run = await newRun({ sync: false })
      const bodies: string[] = []
      let messages: unknown[] = []
      for (const { keep, add, drop, before, model } of steps) {
        messages = [...messages.slice(drop, drop + keep), ...add]
        const request = { ...before, model, messages, tools: [] }
        const { body } = run.requests.record({ iteration: bodies.length + 1, request })
        expect(body.toString()).toBe(JSON.stringify(request))
        bodies.push(body.toString())
      }
      run.close()
      for (const [index, body] of bodies.entries())
        expect(await readRequest(run.directory, index + 1)).toBe(body)
    }),
    { numRuns: 100 },
  )
})

test('the first ten records of a run hold the request whole besides, for jq', async () => {
  const run = await newRun()
  recordEleven(run)
  run.close()
  const all = records(run.paths.invocations)
  expect(all.map(({ request }) => request?.messages.length)).toEqual([...Array(10).fill(3), undefined])
})

test('a record is on disk before its response, lists the blocks it came from, and is completed under its name', async () => {
  const run = await newRun()
  const blocks = [{ source_id: 'task', type: 'file', messages: 1, bytes: 7, tokens: 2, sha256: 'x' }]
  const record = run.requests.record({ iteration: 1, request: { messages: turns(1) }, blocks })
  const path = join(run.directory, record.ref)
  expect(JSON.parse(readText(path))).toMatchObject({
    iteration: 1,
    blocks,
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  record.complete({ response: { content: 'hi' }, usage: { total_tokens: 3 }, duration_ms: 12 })
  expect(JSON.parse(readText(path))).toMatchObject({
    iteration: 1,
    response: { content: 'hi' },
    duration_ms: 12,
  })
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(record.ref).toMatch(/^io\/invocations\/\d{8}T\d{9}_1\.json$/)
  run.close()
})

test('of several requests of one iteration the last one is given back', async () => {
  const run = await newRun()
  run.requests.record({ iteration: 1, request: { messages: turns(1), try: 1 } })
  const { body } = run.requests.record({ iteration: 1, request: { messages: turns(1), try: 2 } })
  run.close()
  expect(await readRequest(run.directory, 1)).toBe(body.toString())
})

test('a request that was never sent, or whose parts were changed, is an error that says so', async () => {
  const run = await newRun()
  recordEleven(run)
  run.close()
  await expect(readRequest(run.directory, 12)).rejects.toMatchObject({
    code: 'ERR_REQUEST_NOT_FOUND',
    message: `${run.paths.invocations}: No request of iteration 12 is recorded. Recorded iterations: 1 to 11.`,
  })
  writeFileSync(run.paths.parts, readText(run.paths.parts).replace('turn 1', 'turn 9'))
  await expect(readRequest(run.directory, 11)).rejects.toThrow('the recorded parts do not have its SHA-256.')
})

test('a request whose record was deleted is not found, and the recorded ones are named', async () => {
  const run = await newRun()
  for (const iteration of [1, 2]) {
    run.requests.record({ iteration, request: { messages: turns(iteration) } })
    run.journal.append(thought(iteration))
  }
  run.close()
  const first = readdirSync(run.paths.invocations).find((name) => name.endsWith('_1.json')) ?? ''
  rmSync(join(run.paths.invocations, first))
  const gone = `${run.paths.invocations}: No request of iteration 1 is recorded. Recorded iterations:`
  await expect(readRequest(run.directory, 1)).rejects.toThrow(`${gone} 2.`)
  rmSync(run.paths.invocations, { recursive: true })
  await expect(readRequest(run.directory, 1)).rejects.toThrow(`${gone} none.`)
})

test('a torn or damaged parts log costs the requests it held, never the run', async () => {
  const run = await newRun()
  recordEleven(run)
  run.close()
  const lines = readText(run.paths.parts).split('\n')
  writeFileSync(run.paths.parts, [lines[0], 'rubbish', ...lines.slice(2)].join('\n'))
  appendFileSync(run.paths.parts, '{"torn')

  const again = await openRun(run.directory)
  afterTest(again.close)
  again.requests.record({ iteration: 12, request: { messages: turns(4) } })
  expect(again.notices).toEqual([expect.stringContaining('line 2: Damaged: it is not JSON')])
  expect(await readRequest(run.directory, 12)).toBe(JSON.stringify({ messages: turns(4) }))
  await expect(readRequest(run.directory, 11)).rejects.toMatchObject({ code: 'ERR_REQUEST_CORRUPT' })
})

test('a body is made of the JSON that the caller keeps of its messages, and is the same as without it', async () => {
  const run = await newRun()
  const request = {
    model: 'm',
    stream: undefined,
    messages: [...turns(2), null, 'é'],
    tools: [{ name: 'a' }],
  }
  const jsonOf = vi.fn((value: unknown) => {
    const json = JSON.stringify(value)
    return { json, sha256: hash('sha256', json) }
  })
  const kept = run.requests.record({ iteration: 1, request, jsonOf })
  const made = run.requests.record({ iteration: 2, request })
  expect(jsonOf.mock.calls.map(([value]) => value)).toEqual([...request.messages, request.tools])
  expect([kept.body.toString(), made.body.toString()]).toEqual(Array(2).fill(JSON.stringify(request)))
  const [first, second] = records(run.paths.invocations).map(({ parts }) => parts)
  expect(first).toEqual(second)
})

test('a closed run records no further request: another process may be its writer', async () => {
  const run = await newRun()
  const { complete } = run.requests.record({ iteration: 1, request: { messages: [] } })
  run.close()
  const closed = expect.objectContaining({ code: 'ERR_JOURNAL_CLOSED' })
  expect(() => run.requests.record({ iteration: 2, request: { messages: [] } })).toThrow(closed)
  expect(() => complete({})).toThrow(closed)
  expect(() => run.recordCommand('echo', {})).toThrow(closed)
  await expect(run.updateMetadata()).rejects.toThrow(closed)
  expect(records(run.paths.invocations)).toHaveLength(1)
})

test('a request that its record holds whole needs no parts', async () => {
  const run = await newRun()
  const request = { model: 'm', messages: turns(3) }
  run.requests.record({ iteration: 1, request }).complete({ response: {} })
  run.close()
  rmSync(run.paths.parts)
  expect(await readRequest(run.directory, 1)).toBe(JSON.stringify(request))
})

test('a record is replaced as a whole: a reader sees it as it was or as it is, and none is left beside it', async () => {
  const run = await newRun()
  const command = run.recordCommand('echo', { argv: ['echo'] })
  const { complete, ref } = run.requests.record({ iteration: 1, request: { messages: [] } })
  const paths = [command.path, join(run.directory, ref)]
  const before = paths.map((path) => openSync(path, 'r'))
  command.complete({ status: 'SUCCESS' })
  complete({ response: 'für dich' })
  expect(before.map((file) => JSON.parse(readFileSync(file, 'utf8')))).toMatchObject([
    { argv: ['echo'] },
    { iteration: 1 },
  ])
  expect(paths.map((path) => JSON.parse(readText(path)))).toMatchObject([
    { status: 'SUCCESS' },
    { iteration: 1, response: 'für dich' },
  ])
  for (const path of paths) expect(readdirSync(dirname(path))).toEqual([basename(path)])
  expect(join(run.directory, command.ref)).toBe(command.path)
})

test('a record takes the next millisecond where a clock that was set back gives it a name that is taken', async () => {
  const run = await newRun()
  const directory = run.paths.toolExecutions
  const now = Date.now() + 60_000
  const taken = [1, 2, 3].map((ms) => `${stamp(now + ms)}_echo.json`)
  for (const name of taken) writeFileSync(join(directory, name), 'of an earlier process')
  vi.useFakeTimers({ now: now + 1, toFake: ['Date'] })
  afterTest(() => void vi.useRealTimers())
  const { path } = run.recordCommand('echo', {})
  expect(basename(path)).toBe(`${stamp(now + 4)}_echo.json`)
  expect(taken.map((name) => readText(join(directory, name)))).toEqual(
    taken.map(() => 'of an earlier process'),
  )
})

test('a record that is completed a second time holds the second response, however short it is', async () => {
  const run = await createRun(temporaryDirectory(), { events: firstEvents })
  afterTest(run.close)
  const record = run.requests.record({ iteration: 1, request: { messages: [] } })
  record.complete({ error: 'x'.repeat(1000) })
  record.complete({ response: {} })
  const stored = JSON.parse(readText(join(run.directory, record.ref)))
  expect(stored).toMatchObject({ iteration: 1, response: {} })
  expect(stored).not.toHaveProperty('error')
})

const stamp = (ms: number) => new Date(ms).toISOString().replace(/[-:.Z]/g, '')

test('a request with images is given back byte for byte, whatever else it holds, and has each image on disk once', async () => {
  const run = await newRun()
  const images = [Buffer.from('89504e470d0a1a0a00', 'hex'), Buffer.from('%PDF-'), Buffer.alloc(0)]
  const blobs = images.map((bytes) => run.blobs.write(bytes))
  const base64 = images.map((bytes) => bytes.toString('base64'))
  const key = fc.constantFrom('$blob', '$$blob', '$$$blob', 'prefix', 'text', '__proto__')
  const texts = [...blobs, ...base64, ...base64.map((text) => `data:image/png;base64,${text}`), 'plain', '']
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(...texts),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(key, tie('value'), { maxKeys: 4 }),
    ),
  }))
  let iteration = 0
  const some = fc.property(fc.array(fc.record({ content: value })), fc.subarray(blobs), (messages, named) => {
    iteration += 1
    const { body } = run.requests.record({ iteration, request: { messages }, blobs: named })
    bodies.push(body.toString())
  })
  const bodies: string[] = []
  fc.assert(some, { numRuns: 60 })
  run.close()
  for (const [index, body] of bodies.entries()) expect(await readRequest(run.directory, index + 1)).toBe(body)
  expect(readdirSync(run.paths.blobs)).toHaveLength(3)
})
