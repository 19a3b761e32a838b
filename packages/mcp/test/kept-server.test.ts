import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { takeLock } from '@delta/durable'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { expect, onTestFinished, test } from 'vitest'
import { callInRun, keepServer, type Start } from '../src/internal.js'
import { type KeeperRecord, socketDirectory } from '../src/run-server.js'
import { type Desk, openDesk } from './helpers.js'

/** The server of a run whose engine is this process, and what keeps it. */
interface KeptDesk extends Desk {
  call(tool: string, args?: Record<string, unknown>, signal?: AbortSignal): Promise<CallToolResult>
  record(): KeeperRecord
  recordPath(): string
  /** Settled when the keeper has ended. */
  ended: Promise<void>
}

async function keptDesk(settings: { timeoutMs?: number } = {}): Promise<KeptDesk> {
  const desk = await openDesk(settings)
  const directory = join(desk.directory, 'run')
  mkdirSync(directory)
  const lease = await takeLock(join(directory, 'lease'), { onHeld: () => Promise.reject(new Error('held')) })
  const run = { directory, epoch: lease.number }
  const place = { cwd: desk.directory, env: process.env }
  const stop = new AbortController()
  let ended = Promise.resolve()
  const started = await new Promise<Start>((resolve, reject) => {
    const request = { run, file: desk.path, sockets: socketDirectory(), ...place }
    ended = keepServer(request, resolve, { signal: stop.signal })
    ended.catch(reject)
  })
  expect(started).toEqual({ started: true })
  onTestFinished(async () => {
    stop.abort()
    await ended
    lease.release()
  })
  const mine = join(directory, 'mcp')
  const recordPath = () => join(mine, readdirSync(mine).find((name) => name.endsWith('.json')) ?? '')
  // what a call starts if nobody keeps the server: here another keeper always does
  const keeper = [process.execPath, '-e', 'console.log(JSON.stringify({ started: false }))']
  return {
    ...desk,
    call: (tool, args = {}, signal) =>
      callInRun(run, { file: desk.path, tool, args }, { ...place, keeper, signal }),
    record: () => JSON.parse(readFileSync(recordPath(), 'utf8')),
    recordPath,
    ended,
  }
}

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
