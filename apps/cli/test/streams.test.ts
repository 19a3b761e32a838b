import { EventEmitter } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { readHidden, readLine } from '../src/read-line.js'
import { type Terminal, terminalOf } from '../src/terminal.js'

test('a terminal that breaks while it is read has nothing more to read', async () => {
  const broken = Object.assign(new Readable({ read: () => undefined }), { isTTY: true })
  const line = readLine('', terminalOf(Object.create(process, { stdin: { value: broken } })))
  broken.destroy(Object.assign(new Error('read EIO'), { code: 'EIO' }))
  expect(await line).toBeUndefined()
})

test('a character that arrives in two pieces is one character of a hidden answer', async () => {
  const stdin = Object.assign(new PassThrough(), { setRawMode: () => undefined })
  const terminal = { stdin, stderr: new PassThrough(), signals: new EventEmitter() } as unknown as Terminal
  const answer = readHidden('Password? ', terminal, new AbortController().signal)
  for (const byte of Buffer.from('pä🔑\r')) stdin.write(Buffer.of(byte))
  expect(await answer).toBe('pä🔑')
})
