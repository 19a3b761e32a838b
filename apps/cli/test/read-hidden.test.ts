import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { readHidden } from '../src/terminal/read-line.js'
import type { Terminal } from '../src/terminal/terminal.js'

test('a character that arrives in two pieces is one character of a hidden answer', async () => {
  const stdin = Object.assign(new PassThrough(), { setRawMode: () => undefined })
  const terminal = { stdin, stderr: new PassThrough(), signals: new EventEmitter() } as unknown as Terminal
  const answer = readHidden('Password? ', terminal, new AbortController().signal)
  for (const byte of Buffer.from('pä🔑\r')) stdin.write(Buffer.of(byte))
  expect(await answer).toBe('pä🔑')
})
