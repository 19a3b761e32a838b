import { rmSync, writeFileSync } from 'node:fs'
import { takeLock } from '@delta/durable'
import { reviewServer } from '@delta/mcp'
import { expect, onTestFinished, test } from 'vitest'
import { keptDesk } from './kept-desk.js'

test('a message that is too large is named, and the next call has a server again', async () => {
  const desk = await keptDesk(async ({ change, path, directory }) => {
    change({ large: {} })
    writeFileSync(path, (await reviewServer(path, { cwd: directory })).text)
  })
  const { content } = await desk.call('large', { bytes: 11_000_000 })
  expect((content[0] as { text: string }).text).toHaveLength(11_000_000)
  await expect(desk.call('large', { bytes: 33_000_000 })).rejects.toMatchObject({
    code: 'ERR_MCP_SERVER',
    message: 'desk sent a message of more than 33 MB, which closed the connection to it.',
  })
  const restarted = '[server desk was restarted; what it held in memory is gone]'
  expect((await desk.call('count')).content).toMatchObject([{ text: restarted }, { text: 'call 1' }])
})

test('a call does not wait for ever for a keeper that holds the lock and cannot be reached', async () => {
  const desk = await keptDesk()
  const lock = desk.recordPath().replace(/json$/, 'lock')
  rmSync(desk.recordPath())
  await desk.ended
  const other = await takeLock(lock, { onHeld: () => Promise.reject(new Error('held')) })
  onTestFinished(() => other.release())
  await expect(desk.call('count')).rejects.toMatchObject({
    code: 'ERR_MCP_SERVER',
    message: `The process that keeps the server of ${desk.path} (${process.pid}) cannot be reached: its record in the run or its socket is gone.`,
  })
})
