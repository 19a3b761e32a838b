import { symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { commandEnvironment } from '../src/index.js'
import { credentialsOf, secretValues } from '../src/internal.js'
import { workspace } from './workspace.js'

const base = {
  PATH: '/bin',
  OPENAI_API_KEY: 'sk-1',
  DELTA_API_KEY: 'k',
  DELTA_ACTION_ID: 'of-a-parent',
  DELTA_IDEMPOTENCY_KEY: 'of-a-parent',
  RUN_DIR: '/old',
}

test('the environment of a command is the caller’s without the engine’s credentials, and with the variables of its run', () => {
  const run = { agentHome: '/a', cwd: '/w', runId: 'r1', runDirectory: '/w/.delta/r1', journalPath: '/j' }
  const place = { AGENT_HOME: '/a', DELTA_AGENT_HOME: '/a', CWD: '/w', DELTA_CWD: '/w' }
  expect(commandEnvironment(base, { run })).toEqual({
    PATH: '/bin',
    ...place,
    DELTA_RUN_ID: 'r1',
    DELTA_RUN_DIR: '/w/.delta/r1',
    RUN_DIR: '/w/.delta/r1',
    DELTA_PARENT_RUN: '/w/.delta/r1',
    JOURNAL_PATH: '/j',
  })
  // what another engine set for this process is not passed on
  expect(commandEnvironment(base, { run: { agentHome: '/a', cwd: '/w' } })).toEqual({
    PATH: '/bin',
    ...place,
  })
})

test('without a run, its variables stay; extra overrides and removes', () => {
  const rest = {
    PATH: '/bin',
    DELTA_ACTION_ID: 'of-a-parent',
    DELTA_IDEMPOTENCY_KEY: 'of-a-parent',
    RUN_DIR: '/old',
  }
  expect(commandEnvironment(base)).toEqual(rest)
  const { RUN_DIR, ...changed } = { ...rest, PATH: '/x' }
  expect(commandEnvironment(base, { extra: { PATH: '/x', RUN_DIR: undefined } })).toEqual(changed)
})

test('a command gets the credentials that it lists, with a key also its address, and no other variable by that', () => {
  const credentials = { OPENAI_API_KEY: 'sk-2', MY_KEY: 'mine', DELTA_BASE_URL: 'http://x' }
  const environment = { ...base, MY_KEY: 'theirs', DELTA_BASE_URL: 'http://y' }
  const given = (passEnv: string[]) =>
    credentialsOf(commandEnvironment(environment, { credentials, passEnv }), [
      'OPENAI_API_KEY',
      'DELTA_API_KEY',
      'MY_KEY',
      'DELTA_BASE_URL',
      'HOME',
    ])
  expect(given([])).toEqual({})
  const address = { DELTA_BASE_URL: 'http://x' }
  expect(given(['DELTA_BASE_URL'])).toEqual(address)
  expect(given(['MY_KEY', 'HOME'])).toEqual({ MY_KEY: 'mine' }) // the address is that of DELTA_API_KEY
  expect(given(['OPENAI_API_KEY', 'DELTA_API_KEY'])).toEqual({
    OPENAI_API_KEY: 'sk-2',
    DELTA_API_KEY: 'k',
    ...address,
  })
  expect(secretValues(credentials)).toEqual(['sk-2', 'mine']) // an address is no secret
})

test('all credentials go to the delta that the run finds first, or to the program that runs now, and to no other of that name', async () => {
  const directory = await workspace()
  const own = await directory.write('own/delta', '#!/bin/sh\n')
  const other = await directory.write('other/delta', '#!/bin/sh\n')
  const running = join(directory.path, 'delta')
  await symlink(process.argv[1] ?? '', running)

  const pathTo = (program: string) => ({ PATH: `${directory.path}/none:${dirname(program)}` })
  const getsKey = (command: string[], extra = {}, trusted = pathTo(own)) =>
    'DELTA_API_KEY' in commandEnvironment({ ...trusted, DELTA_API_KEY: 'k' }, { command, extra })
  expect(getsKey(['delta', 'run'])).toBe(true)
  expect(getsKey([own, 'continue'])).toBe(true)
  expect(getsKey([running, 'run'])).toBe(true)
  expect(getsKey(['delta', 'show'])).toBe(false)
  expect(getsKey([other, 'run'])).toBe(false)
  expect(getsKey(['${BIN}/delta', 'run'])).toBe(false) // a file of the workspace
  expect(getsKey(['delta', 'run'], pathTo(other))).toBe(false)

  // a relative directory leads to wherever a tool runs, and a model may have written what is there
  expect(getsKey(['delta', 'run'], {}, { PATH: 'other' })).toBe(false)
  expect(getsKey(['delta', 'run'], { PATH: `other:${dirname(own)}` })).toBe(false)
})
