import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { takeLock } from '@delta/durable'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { expect, onTestFinished } from 'vitest'
import { callInRun, keepServer, type Start } from '../src/internal.js'
import { type KeeperRecord, socketDirectory } from '../src/run-server.js'
import { type Desk, openDesk } from './helpers.js'

/** The server of a run whose engine is this process, and what keeps it. */
export interface KeptDesk extends Desk {
  call(tool: string, args?: Record<string, unknown>, signal?: AbortSignal): Promise<CallToolResult>
  record(): KeeperRecord
  recordPath(): string
  /** Settled when the keeper has ended. */
  ended: Promise<void>
}

export async function keptDesk(prepare: (desk: Desk) => Promise<void> = async () => {}): Promise<KeptDesk> {
  const desk = await openDesk()
  await prepare(desk)
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
