import { appendFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { LiveMessage, RunList, StepList } from '../src/api.js'
import { type Client, called, end, journalOf, serving, start, thought, user, workspaceOf } from './runs.js'

/** The messages of a run from an event on, and the number of the last one. */
function listen({ port, token }: Client, key: string | undefined, after: number) {
  const messages: (LiveMessage & { seq: number })[] = []
  let text = ''
  const headers = { authorization: `Bearer ${token}` }
  const path = `/api/live?run=${key}&after=${after}`
  const asked = request({ host: '127.0.0.1', port, path, headers }, (response) => {
    expect(response.headers['content-type']).toBe('text/event-stream; charset=utf-8')
    response.on('data', (piece) => {
      text += piece
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const [, seq, data] = /^id: (\d+)\ndata: (.*)$/s.exec(block) ?? []
        if (data !== undefined) messages.push({ ...JSON.parse(data), seq: Number(seq) })
      }
    })
  })
  asked.on('error', () => undefined) // the test ends it
  asked.end()
  onTestFinished(() => void asked.destroy())
  return { messages, close: () => asked.destroy() }
}

async function opened(events: Parameters<typeof journalOf>[0]) {
  const workspace = await workspaceOf({ run: events })
  const client = await serving([workspace])
  const { runs } = await client.get<RunList>('/api/runs')
  const key = runs[0]?.key
  const { seq } = await client.get<StepList>(`/api/runs/${key}/steps`)
  const append = (...more: Parameters<typeof journalOf>) =>
    appendFileSync(join(workspace, '.delta/run/journal.jsonl'), journalOf(...more))
  return { client, key, seq, append }
}

test('steps that are new or have grown come as they are journaled, with the row and its columns', async () => {
  const [asking, requested, result] = called(1)
  const { client, key, seq, append } = await opened([start(), user('Go.'), asking, requested] as never)
  const { messages } = listen(client, key, seq)
  append([result] as never, 5)
  await expect.poll(() => messages.at(-1)?.steps).toMatchObject([{ n: 1, calls: [{ status: 'success' }] }])
  append([thought(2), end(2)], 6)
  await expect.poll(() => messages.at(-1)?.run.status).toBe('COMPLETED')
  const steps = messages.flatMap((message) => message.steps).map(({ n }) => n)
  expect(steps.at(-1)).toBe(2)
  expect(messages.at(-1)?.seq).toBe(7)
  expect(messages.flatMap(({ columns }) => columns).at(-1)).toMatchObject({ from: 2, to: 2 })
})

test('a connection that is made again goes on after the last event that came', async () => {
  const { client, key, seq, append } = await opened([start(), user('Go.'), ...called(1)])
  append([...called(2), ...called(3)], 6)
  const first = listen(client, key, seq)
  await expect.poll(() => first.messages.at(-1)?.seq).toBe(11)
  expect(first.messages[0]?.steps.map(({ n }) => n)).toEqual([2, 3])
  first.close()
  append(called(4), 12)
  const second = listen(client, key, 11)
  await expect.poll(() => second.messages.at(-1)?.seq).toBe(14)
  expect(second.messages.flatMap(({ steps }) => steps).map(({ n }) => n)).toEqual([4])
})

test('a line that is half written is waited for', async () => {
  const { client, key, seq, append } = await opened([start(), user('Go.'), ...called(1)])
  const { messages } = listen(client, key, seq)
  const workspaceLine = journalOf([thought(2)], 6)
  const { body } = await client.ask(`/api/runs/${key}`)
  const path = JSON.parse(body).commands.argument as string
  appendFileSync(join(path, 'journal.jsonl'), workspaceLine.slice(0, 40))
  await expect.poll(() => messages.length).toBeGreaterThan(0)
  expect(messages.flatMap(({ steps }) => steps)).toEqual([])
  appendFileSync(join(path, 'journal.jsonl'), workspaceLine.slice(40))
  await expect.poll(() => messages.at(-1)?.steps).toMatchObject([{ n: 2, isAnswer: true }])
  append([end(2)], 7)
  await expect.poll(() => messages.at(-1)?.run.status).toBe('COMPLETED')
})

test('a question that waits for a person comes, and goes when it is answered', async () => {
  const [asking] = called(1)
  const { client, key, seq, append } = await opened([start(), user('Go.'), asking] as never)
  const { messages } = listen(client, key, seq)
  append(
    [{ type: 'HUMAN_INPUT_REQUEST', iteration: 1, action_id: 'c1', request_id: 'q', prompt: 'Which?' }],
    4,
  )
  await expect.poll(() => messages.at(-1)?.question).toMatchObject({ kind: 'question', prompt: 'Which?' })
  append([{ type: 'HUMAN_INPUT_RECEIVED', iteration: 1, action_id: 'c1', response: 'This.' }], 5)
  await expect.poll(() => messages.at(-1)?.question).toBe(null)
  expect(messages.at(-1)?.steps).toMatchObject([{ calls: [{ asked: { answer: { text: 'This.' } } }] }])
})

test('a run of which more came than a page holds sends the newest 48 steps', async () => {
  const { client, key, seq, append } = await opened([start(), user('Go.'), ...called(1)])
  append(Array.from({ length: 200 }, (_, index) => called(index + 2)).flat(), 6)
  const { messages } = listen(client, key, seq)
  await expect.poll(() => messages.at(-1)?.seq).toBe(605)
  const steps = messages.flatMap((message) => message.steps)
  expect(steps.at(-1)?.n).toBe(201)
  expect(messages.every((message) => message.steps.length <= 49)).toBe(true)
})

test('closing the server ends the connection', async () => {
  const { client, key, seq } = await opened([start(), user('Go.'), ...called(1)])
  const { messages } = listen(client, key, seq)
  await expect.poll(() => messages.length).toBe(1)
  await client.close()
  await expect(client.ask('/api/runs')).rejects.toThrow(/ECONNREFUSED|ECONNRESET|socket hang up/)
})
