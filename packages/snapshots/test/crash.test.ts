import { join } from 'node:path'
import { startProcess } from '@delta/testkit'
import { describe, expect, test } from 'vitest'
import { openStore } from '../src/index.js'
import { contents, describeDirectory, hasTools, scene, sh, take } from './helpers.js'

const KILLS = process.env.DELTA_TESTS === 'real' ? 12 : 4

describe.skipIf(!hasTools)('a process that takes snapshots may be killed at any moment:', () => {
  test('what it took is there, and the next process goes on with the store', async () => {
    const { from, at } = await scene()
    const taken = new Map<string, string>()
    for (let index = 0; index < KILLS; index++) {
      const script = join(import.meta.dirname, 'take-forever.mjs')
      const taking = startProcess([process.execPath, script, from, join(at, 'store')])
      await taking.waitForOutput('\n')
      const wait = performance.now() + Math.random() * 60 // any moment of a snapshot, which has no events to wait for
      while (performance.now() < wait) await new Promise((resolve) => setImmediate(resolve))
      taking.kill('SIGKILL')
      const { stdout } = await taking.result
      for (const line of stdout.split('\n').slice(0, -1)) taken.set(...(line.split(' ') as [string, string]))
    }
    const store = await openStore(join(at, 'store'))
    await store.restore(await take(store, from), 'files', join(at, 'back'))
    expect(describeDirectory(join(at, 'back'))).toEqual(describeDirectory(from))
    expect(sh(at, 'ls store store/objects/pack | grep tmp || true')).toBe('')
    expect(taken.size).toBeGreaterThan(KILLS - 2)
    for (const [id, state] of [...taken].slice(-15)) expect(await contents(store, id, 'state')).toBe(state)
  })
})
