import { EventEmitter } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { readHidden, readLine, type Terminal, terminalOf } from '../src/terminal.js'

/** What a command sees of a process with this stdin. */
function terminalWith(stdin: PropertyDescriptor): Terminal {
  return terminalOf(Object.create(process, { stdin }))
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
  const terminal = terminalWith(failing(gone))
  expect(terminal.stdin).toBe(terminal.stdin)
  expect(await readLine('', terminal)).toBeUndefined()
})

test('a terminal that breaks while it is read has nothing more to read', async () => {
  const broken = Object.assign(new Readable({ read: () => undefined }), { isTTY: true })
  const line = readLine('', terminalWith({ value: broken }))
  broken.destroy(Object.assign(new Error('read EIO'), { code: 'EIO' }))
  expect(await line).toBeUndefined()
})

test('another reason why there is no stdin is an error', () => {
  expect(() => terminalWith(failing(new Error('too many files'))).stdin).toThrow('too many files')
})

test('a character that arrives in two pieces is one character of a hidden answer', async () => {
  const stdin = Object.assign(new PassThrough(), { setRawMode: () => undefined })
  const terminal = { stdin, stderr: new PassThrough(), signals: new EventEmitter() } as unknown as Terminal
  const answer = readHidden('Password? ', terminal, new AbortController().signal)
  for (const byte of Buffer.from('pä🔑\r')) stdin.write(Buffer.of(byte))
  expect(await answer).toBe('pä🔑')
})
