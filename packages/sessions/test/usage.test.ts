import { expect, test } from 'vitest'
import { cleanUpSessions, endSession, execInSession, listSessions, startSession } from '../src/index.js'

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
  [
    'startSession: the option workDirectory',
    () => startSession('sh', wrong({ sessionsDirectory: '/s', environment: {} })),
  ],
  [
    'startSession: the option environment',
    () => startSession('sh', wrong({ sessionsDirectory: '/s', workDirectory: '/', environment: { A: 1 } })),
  ],
  [
    'startSession: the option secretNames',
    () =>
      startSession(
        'sh',
        wrong({ sessionsDirectory: '/s', workDirectory: '/', environment: {}, secretNames: 'A' }),
      ),
  ],
  [
    'execInSession: the option signal',
    () => execInSession('sess_1', 'ls', wrong({ sessionsDirectory: '/s', environment: {}, signal: {} })),
  ],
  [
    'execInSession: the option timeoutMs',
    () => execInSession('sess_1', 'ls', wrong({ sessionsDirectory: '/s', environment: {}, timeoutMs: '5s' })),
  ],
  ['endSession: the id', () => endSession(wrong(undefined), wrong(undefined))],
  ['endSession: the option sessionsDirectory', () => endSession('sess_1', wrong(undefined))],
  ['cleanUpSessions: the option sessionsDirectory', () => cleanUpSessions(wrong(undefined))],
  ['cleanUpSessions: the option runId', () => cleanUpSessions(wrong({ sessionsDirectory: '/s', runId: 5 }))],
  ['cleanUpSessions: the option all', () => cleanUpSessions(wrong({ sessionsDirectory: '/s', all: 'no' }))],
  ['cleanUpSessions: the option now', () => cleanUpSessions(wrong({ sessionsDirectory: '/s', now: '2026' }))],
  ['listSessions: the directory', async () => listSessions(wrong(undefined))],
  ['listSessions: the directory', async () => listSessions('a\0b')],
])('what cannot be used is named: %s', async (what, call) => {
  await expect(call()).rejects.toMatchObject({
    code: 'ERR_SESSION_USAGE',
    message: expect.stringContaining(`${what} is missing or invalid.\nPass `),
  })
})

test('an option may be undefined, also to the compiler', async () => {
  const nothing = { signal: undefined, timeoutMs: undefined, maxOutputBytes: undefined }
  const exec = execInSession('sess_1', 'ls', { sessionsDirectory: '/nowhere', environment: {}, ...nothing })
  await expect(exec).rejects.toMatchObject({ code: 'ERR_SESSION_UNKNOWN' })
})
