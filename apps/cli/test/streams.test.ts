import { EventEmitter } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { readHidden, readLine, type Terminal, watchedStreams } from '../src/terminal.js'

/** What is read of a process with this stdin. */
function streamsOf(stdin: PropertyDescriptor): ReturnType<typeof watchedStreams> {
  return watchedStreams(Object.create(process, { stdin }), { onlyPrints: false })
}

function failing(error: Error): PropertyDescriptor {
  return {
    get() {
      throw error
    },
  }
}

test('a terminal that is closed in the instant in which it is opened has nothing to read', async () => {
  const gone = Object.assign(new Error('TTY initialization failed'), { code: 'ERR_TTY_INIT_FAILED' })
  const { stdin } = streamsOf(failing(gone))
  expect(stdin()).toBe(stdin())
  expect(await readLine({ stdin: stdin() } as Terminal)).toBeUndefined()
})

test('a terminal that breaks while it is read has nothing more to read', async () => {
  const broken = Object.assign(new Readable({ read: () => undefined }), { isTTY: true })
  const { stdin } = streamsOf({ value: broken })
  const line = readLine({ stdin: stdin() } as Terminal)
  broken.destroy(Object.assign(new Error('read EIO'), { code: 'EIO' }))
  expect(await line).toBeUndefined()
})

test('another reason why there is no stdin is an error', () => {
  expect(streamsOf(failing(new Error('too many files'))).stdin).toThrow('too many files')
})

test('a character that arrives in two pieces is one character of a hidden answer', async () => {
  const stdin = Object.assign(new PassThrough(), { setRawMode: () => undefined })
  const terminal = { stdin, stderr: new PassThrough(), signals: new EventEmitter() } as unknown as Terminal
  const answer = readHidden('Password? ', terminal, new AbortController().signal)
  for (const byte of Buffer.from('pä🔑\r')) stdin.write(Buffer.of(byte))
  expect(await answer).toBe('pä🔑')
})
