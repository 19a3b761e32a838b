import { expect, test } from 'vitest'
import { inOrder } from '../src/act.js'

/** Items that end only when told to, so that a test decides the order. */
function controlled(concurrency: number, options: { barriers?: string[]; stopAt?: string } = {}) {
  const log: string[] = []
  const ends = new Map<string, () => void>()
  const each = (item: string) => {
    log.push(`start ${item}`)
    return new Promise<string | undefined>((resolve) => {
      ends.set(item, () => {
        log.push(`end ${item}`)
        resolve(item === options.stopAt ? 'stopped' : undefined)
      })
    })
  }
  const isBarrier = (item: string) => options.barriers?.includes(item) ?? false
  return { log, end: (item: string) => ends.get(item)?.(), options: { concurrency, isBarrier, each } }
}

async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

test('with a concurrency of two the third waits for either of the first', async () => {
  const run = controlled(2)
  const done = inOrder(['a', 'b', 'c'], run.options)
  await settled()
  expect(run.log).toEqual(['start a', 'start b'])
  run.end('b')
  await settled()
  expect(run.log.at(-1)).toBe('start c')
  run.end('a')
  run.end('c')
  expect(await done).toBeUndefined()
})

test('a barrier waits for earlier items and holds back later ones', async () => {
  const run = controlled(3, { barriers: ['b'] })
  const done = inOrder(['a', 'b', 'c'], run.options)
  await settled()
  expect(run.log).toEqual(['start a'])
  run.end('a')
  await settled()
  expect(run.log.at(-1)).toBe('start b')
  run.end('b')
  await settled()
  run.end('c')
  await done
  expect(run.log).toEqual(['start a', 'end a', 'start b', 'end b', 'start c', 'end c'])
})

test('a stop lets running items end, starts no more, and is the result', async () => {
  const run = controlled(2, { stopAt: 'a' })
  const done = inOrder(['a', 'b', 'c'], run.options)
  await settled()
  run.end('a')
  await settled()
  run.end('b')
  expect(await done).toBe('stopped')
  expect(run.log).not.toContain('start c')
})

test('a failure starts no more items, is reported to the running ones, and is thrown once they have ended', async () => {
  const log: string[] = []
  let end: (() => void) | undefined
  const each = (item: string) => {
    log.push(`start ${item}`)
    if (item === 'a') return Promise.reject(new Error('No room.'))
    return new Promise<undefined>((resolve) => {
      end = () => resolve(undefined)
    })
  }
  const onFailure = () => log.push('failed')
  const done = inOrder(['b', 'a', 'c'], { concurrency: 2, isBarrier: () => false, each, onFailure }).catch(
    (error: Error) => log.push(error.message),
  )
  await settled()
  expect(log).toEqual(['start b', 'start a', 'failed'])
  end?.()
  await done
  expect(log).toEqual(['start b', 'start a', 'failed', 'No room.'])
})
