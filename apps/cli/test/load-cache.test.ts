import { mkdir, open, readdir, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { cacheFor } from '../src/agent/load-cache.js'

test('each agent has a file, which another build does not read, and the oldest of many are removed', async () => {
  await using directory = await temporaryWorkspace({ 'compiled/main-v20': 'compiled code' })
  const place = { directory: join(directory.path, 'compiled'), build: () => 'one' }
  const agents = Array.from({ length: 102 }, (_, index) => `/agents/${index}`)
  const kept = async () => (await directory.files()).filter((name) => name.startsWith('compiled/tools-'))
  const seen = new Set<string>()
  for (const [age, agent] of agents.entries()) {
    cacheFor(agent, place).write(agent)
    for (const name of (await kept()).filter((name) => !seen.has(name))) {
      await utimes(join(directory.path, name), age, age)
      seen.add(name)
    }
  }
  expect(await kept()).toHaveLength(100)
  const read = agents.map((agent) => cacheFor(agent, place).read())
  expect(read).toEqual([undefined, undefined, ...agents.slice(2)])
  expect(await directory.read('compiled/main-v20')).toBe('compiled code')
  expect(cacheFor('/agents/9', { ...place, build: () => 'two' }).read()).toBeUndefined()
})

test('a file too large for a text is not read, and nothing is left beside what cannot be replaced', async () => {
  await using directory = await temporaryWorkspace({})
  const place = { directory: directory.path, build: () => 'one' }
  const cache = cacheFor('/agents/one', place)
  cache.write('kept')
  const [name = ''] = await directory.files()
  const path = join(directory.path, name)

  const file = await open(path, 'w')
  await file.truncate(600 * 1024 * 1024) // more than one text can hold
  await file.close()
  expect(cache.read()).toBeUndefined()

  await rm(path)
  await mkdir(join(path, 'inside'), { recursive: true })
  expect(cache.read()).toBeUndefined()
  cache.write('kept')
  expect(await readdir(directory.path)).toEqual([name])
})
