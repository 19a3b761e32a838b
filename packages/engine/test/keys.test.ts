import { expect, test } from 'vitest'
import { baseEnvironment, credentialVariables } from '../src/options.js'

// Whose key and address the commands of an engine, and engines below it, are given.

const RUN = { runId: 'r', directory: '/w/.delta/r', workDirectory: '/w', paths: { journal: '/w/j' } } as const
const ANTHROPIC = { provider: 'anthropic', parameters: {} } as const
const OPENAI = { provider: 'openai', parameters: {} } as const

/** The part of the environment of commands that says where keys go. */
function addressesOf(
  llm: Parameters<typeof credentialVariables>[0],
  options: Parameters<typeof credentialVariables>[1],
) {
  const { DELTA_KEY_FOR, DELTA_URLS_OF_RUN, DELTA_BASE_URL, OPENAI_BASE_URL, ANTHROPIC_BASE_URL } =
    baseEnvironment({ ...RUN, runsDirectory: undefined }, { home: '/a', llm }, options)
  return { DELTA_KEY_FOR, DELTA_URLS_OF_RUN, DELTA_BASE_URL, OPENAI_BASE_URL, ANTHROPIC_BASE_URL }
}

test("below a run of another provider, that run's address is not handed on as this one's", () => {
  const ofRun = { DELTA_URLS_OF_RUN: 'DELTA_BASE_URL' }
  const env = { DELTA_KEY_FOR: 'openai', ...ofRun, DELTA_API_KEY: 'o', DELTA_BASE_URL: 'http://o.example' }
  for (const credentials of [{ apiKey: 'a', found: {} }, { apiKey: 'a' }]) {
    expect(addressesOf(ANTHROPIC, { env, credentials })).toEqual({ DELTA_KEY_FOR: 'anthropic', ...ofRun })
    expect(credentialVariables(ANTHROPIC, { env, credentials })).not.toHaveProperty('DELTA_BASE_URL')
  }
})

test('an address that was not found, because it is for another key, reaches no command', () => {
  const env = { DELTA_KEY_FOR: 'openai', OPENAI_API_KEY: 'o', OPENAI_BASE_URL: 'http://o.example' }
  const credentials = { apiKey: 'own', found: { OPENAI_API_KEY: 'own' } }
  expect(addressesOf(OPENAI, { env, credentials })).toEqual({ DELTA_KEY_FOR: 'openai' })
  expect(credentialVariables(OPENAI, { env, credentials })).toEqual({
    DELTA_API_KEY: 'own',
    OPENAI_API_KEY: 'own',
  })
})

test("an address that is not as the person set it is listed, of whichever provider, and stays so; the person's own is for every key", () => {
  const env = { OPENAI_API_KEY: 'o', OPENAI_BASE_URL: 'http://o.example' }
  const listed = (host: NodeJS.ProcessEnv, baseUrl = 'http://o.example', found = {}) =>
    addressesOf(OPENAI, { env: host, credentials: { apiKey: 'o', baseUrl, found: { ...host, ...found } } })
      .DELTA_URLS_OF_RUN
  expect(listed(env)).toBe('DELTA_BASE_URL') // the person set OPENAI_BASE_URL
  expect(listed({ ...env, DELTA_BASE_URL: 'http://o.example' })).toBeUndefined()
  expect(listed(env, 'http://own.example')).toBe('DELTA_BASE_URL OPENAI_BASE_URL')
  const other = { ANTHROPIC_BASE_URL: 'http://a.example' }
  expect(listed(env, undefined, other)).toContain('ANTHROPIC_BASE_URL')
  expect(listed({ ...env, ...other })).toBe('DELTA_BASE_URL')
  expect(listed({ ...env, DELTA_URLS_OF_RUN: 'OPENAI_BASE_URL' })).toBe('OPENAI_BASE_URL DELTA_BASE_URL')
})

test('where a program gives only a key, the environment keeps the address of that very key, and not of another one', () => {
  const env = { OPENAI_API_KEY: 'o', OPENAI_BASE_URL: 'http://o.example', DELTA_BASE_URL: 'http://d.example' }
  const [same, other] = ['o', 'p'].map((apiKey) => addressesOf(OPENAI, { env, credentials: { apiKey } }))
  expect(same).toMatchObject({ OPENAI_BASE_URL: 'http://o.example', DELTA_BASE_URL: undefined })
  expect(other).toMatchObject({ OPENAI_BASE_URL: undefined, DELTA_BASE_URL: undefined })
})
