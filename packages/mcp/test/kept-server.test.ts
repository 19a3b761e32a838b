import { rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { waitForExit, waitForFile } from '@delta/testkit'
import { expect, test } from 'vitest'
import { type KeeperRecord, socketDirectory } from '../src/run-server.js'
import { keptDesk } from './kept-desk.js'

/** What the keeper answers to one line. */
async function answerTo({ socket: path }: KeeperRecord, question: object): Promise<string> {
  const socket = connect(path)
  socket.write(`${JSON.stringify(question)}\n`)
  return text(socket)
}

test('only who can read the record of the run reaches its server, at a socket in the directory for them', async () => {
  const desk = await keptDesk()
  const question = { tool: 'count', args: {}, sandbox: null }
  const refused =
    '{"error":{"code":"ERR_MCP_REFUSED","message":"Only delta mcp call reaches this server."}}\n'
  expect(await answerTo(desk.record(), question)).toBe(refused)
  expect(await answerTo(desk.record(), { ...question, token: '0'.repeat(64) })).toBe(refused)
  expect(desk.log()).toBe('') // the server was not even started
  expect(await desk.call('count')).toEqual({ content: [{ type: 'text', text: 'call 1' }] })

  const elsewhere = join(desk.directory, 'other.sock')
  writeFileSync(elsewhere, '')
  writeFileSync(desk.recordPath(), JSON.stringify({ ...desk.record(), socket: elsewhere }))
  await expect(desk.call('count')).rejects.toMatchObject({
    code: 'ERR_MCP_REFUSED',
    message: expect.stringContaining(`listens at ${elsewhere}, which is not in ${socketDirectory()}.`),
  })
})

test('a call that is stopped ends with the reason, and the server is told', async () => {
  const desk = await keptDesk()
  const stop = new AbortController()
  const call = desk.call('wait', {}, stop.signal)
  const log = join(desk.directory, 'server.log')
  await Promise.all([
    expect(call).rejects.toThrow('enough'),
    waitForFile(log, 'waiting').then(() => stop.abort(new Error('enough'))),
  ])
  await waitForFile(log, 'cancelled')
})

test.each(['record', 'socket'])(
  'a keeper whose %s is gone ends, and with it what it started',
  async (what) => {
    const desk = await keptDesk()
    await desk.call('count')
    rmSync(what === 'socket' ? desk.record().socket : desk.recordPath())
    await desk.ended
    await waitForExit(Number(/start (\d+)/.exec(desk.log())?.[1]))
  },
)
