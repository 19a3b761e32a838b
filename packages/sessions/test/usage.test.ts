import { expect, test } from 'vitest'
import { execInSession, startSession } from '../src/index.js'

// Called from JavaScript, where no type checker has looked at what is passed.

const wrong = (value: unknown) => value as never

test.each([
  ['startSession: the program', () => startSession(wrong(undefined), wrong(undefined))],
  ['startSession: the option sessionsDirectory', () => startSession('bash', wrong(undefined))],
  ['execInSession: the id', () => execInSession(wrong(undefined), 'ls', wrong(undefined))],
  ['execInSession: the command', () => execInSession('sess_1', wrong(['ls']), wrong(undefined))],
  [
    'execInSession: the option environment',
    () => execInSession('sess_1', 'ls', wrong({ sessionsDirectory: '/s' })),
  ],
])('what cannot be used is named: %s', async (what, call) => {
  await expect(call()).rejects.toMatchObject({
    code: 'ERR_SESSION_USAGE',
    message: expect.stringContaining(`${what} is missing, or not what it must be.\nPass `),
  })
})
