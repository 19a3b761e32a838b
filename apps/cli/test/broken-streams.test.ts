import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { readLine } from '../src/terminal/read-line.js'
import { watchedStreams } from '../src/terminal/streams.js'
import type { Terminal } from '../src/terminal/terminal.js'

/** A process whose stdin cannot be had. */
function hostWithout(stdin: Error): NodeJS.Process {
  return Object.create(process, {
    stdin: {
      get() {
        throw stdin
      },
    },
  })
}

test('a terminal that is closed in the instant in which it is opened has nothing to read', async () => {
  const gone = Object.assign(new Error('TTY initialization failed'), { code: 'ERR_TTY_INIT_FAILED' })
  const { stdin } = watchedStreams(hostWithout(gone), { onlyPrints: false })
  expect(stdin()).toBe(stdin())
  expect(await readLine({ stdin: stdin() } as Terminal)).toBeUndefined()
})

test('a terminal that breaks while it is read has nothing more to read', async () => {
  const broken = Object.assign(new Readable({ read: () => undefined }), { isTTY: true })
  const { stdin } = watchedStreams(Object.create(process, { stdin: { value: broken } }), {
    onlyPrints: false,
  })
  const line = readLine({ stdin: stdin() } as Terminal)
  broken.destroy(Object.assign(new Error('read EIO'), { code: 'EIO' }))
  expect(await line).toBeUndefined()
})

test('another reason why there is no stdin is an error', () => {
  const { stdin } = watchedStreams(hostWithout(new Error('too many files')), { onlyPrints: false })
  expect(stdin).toThrow('too many files')
})
