import { symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { commandEnvironment } from '../src/index.js'
import { secretValues } from '../src/internal.js'
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

const KEYS = {
  pairs: [
    { vendor: 'openai', key: 'sk-2', address: 'http://x' },
    { vendor: 'anthropic', key: 'sk-a', address: 'https://api.anthropic.com' },
  ],
  env: { OPENAI_API_KEY: 'sk-1', MY_KEY: 'mine', DELTA_BASE_URL: 'http://y', OPENAI_BASE_URL: 'http://z' },
}

test('K7: no command gets a key or the shared address, but for the keys that it lists, each with its address', () => {
  const environment = { ...base, ...KEYS.env, MY_KEY: 'theirs' }
  const given = (...passEnv: string[]) => {
    const { PATH, DELTA_ACTION_ID, DELTA_IDEMPOTENCY_KEY, RUN_DIR, DELTA_CREDENTIALS, ...rest } =
      commandEnvironment(environment, { credentials: KEYS, passEnv })
    return rest
  }
  const usual = { OPENAI_BASE_URL: 'http://z' } // an address of the person is no secret
  expect(given()).toEqual(usual)
  expect(given('DELTA_BASE_URL', 'DELTA_CREDENTIALS', 'HOME')).toEqual(usual)
  expect(given('MY_KEY')).toEqual({ ...usual, MY_KEY: 'mine', DELTA_BASE_URL: 'http://y' })
  expect(given('OPENAI_API_KEY', 'ANTHROPIC_API_KEY')).toEqual({
    OPENAI_API_KEY: 'sk-2',
    OPENAI_BASE_URL: 'http://x',
    ANTHROPIC_API_KEY: 'sk-a', // at its usual address
  })
  expect(given('DELTA_API_KEY')).toEqual({ ...usual, DELTA_API_KEY: 'sk-2', DELTA_BASE_URL: 'http://x' })
  expect(secretValues(KEYS)).toEqual(['sk-2', 'sk-a', 'sk-1', 'mine']) // an address is no secret
})

test('K7: a delta that such a command starts is handed the listed keys, with the addresses that the person exported', () => {
  const handed = (...passEnv: string[]) => {
    const { DELTA_CREDENTIALS: given } = commandEnvironment(base, { credentials: KEYS, passEnv })
    return given === undefined ? undefined : JSON.parse(given)
  }
  expect(handed()).toBeUndefined()
  expect(handed('ANTHROPIC_API_KEY')).toEqual({
    pairs: [{ vendor: 'openai' }, KEYS.pairs[1]],
    env: { DELTA_BASE_URL: 'http://y', OPENAI_BASE_URL: 'http://z' },
  })
  expect(handed('MY_KEY', 'DELTA_API_KEY')).toEqual({
    pairs: [KEYS.pairs[0], { vendor: 'anthropic' }],
    env: { MY_KEY: 'mine', DELTA_BASE_URL: 'http://y', OPENAI_BASE_URL: 'http://z' },
  })
})

test('K6: all credentials go to the delta that the run finds first, or to the program that runs now, and to no other of that name', async () => {
  const directory = await workspace()
  const own = await directory.write('own/delta', '#!/bin/sh\n')
  const other = await directory.write('other/delta', '#!/bin/sh\n')
  const running = join(directory.path, 'delta')
  await symlink(process.argv[1] ?? '', running)

  const pathTo = (program: string) => ({ PATH: `${directory.path}/none:${dirname(program)}` })
  const getsKey = (command: string[], extra = {}, trusted = pathTo(own)) =>
    commandEnvironment({ ...trusted, DELTA_API_KEY: 'k' }, { command, extra }).DELTA_CREDENTIALS ===
    '{"pairs":[],"env":{"DELTA_API_KEY":"k"}}'
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

test('K4: what a hook of a run starts knows that run, too, though it is no call', () => {
  const ofHook = { DELTA_RUN_DIR: '/w/.delta/above' }
  const run = { agentHome: '/a', cwd: '/v', runId: 'r', runDirectory: '/v/.delta/r' }
  expect(commandEnvironment(ofHook, { run }).DELTA_CALLS).toBe('\n- /w/.delta/above\n')
})

test('K7: a key that the person exported goes with the address that the person exported, by whichever name', () => {
  const person = { OPENAI_API_KEY: 'k', DELTA_BASE_URL: 'http://gateway.example' }
  expect(commandEnvironment(person, { passEnv: ['OPENAI_API_KEY'] })).toMatchObject({
    OPENAI_API_KEY: 'k',
    OPENAI_BASE_URL: 'http://gateway.example',
  })
})
