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
  const { DELTA_KEY_FOR, DELTA_URL_FOR, DELTA_BASE_URL, OPENAI_BASE_URL, ANTHROPIC_BASE_URL } =
    baseEnvironment({ ...RUN, runsDirectory: undefined }, { home: '/a', llm }, options)
  return { DELTA_KEY_FOR, DELTA_URL_FOR, DELTA_BASE_URL, OPENAI_BASE_URL, ANTHROPIC_BASE_URL }
}

test("below a run of another provider, that run's address is not handed on as this one's", () => {
  const env = { DELTA_KEY_FOR: 'openai', DELTA_API_KEY: 'o', DELTA_BASE_URL: 'http://o.example' }
  for (const credentials of [{ apiKey: 'a', found: {} }, { apiKey: 'a' }]) {
    expect(addressesOf(ANTHROPIC, { env, credentials })).toEqual({ DELTA_KEY_FOR: 'anthropic' })
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

test("only an address of the person's own environment is for every key of the engines below", () => {
  const env = { OPENAI_API_KEY: 'o', OPENAI_BASE_URL: 'http://o.example' }
  const found = env
  const inherited = { apiKey: 'o', baseUrl: 'http://o.example', found }
  expect(addressesOf(OPENAI, { env, credentials: inherited }).DELTA_URL_FOR).toBe('all')
  const own = { ...inherited, baseUrl: 'http://own.example' }
  expect(addressesOf(OPENAI, { env, credentials: own }).DELTA_URL_FOR).toBeUndefined()
  const ofOther = { OPENAI_API_KEY: 'o', ANTHROPIC_BASE_URL: 'http://o.example' }
  expect(addressesOf(OPENAI, { env: ofOther, credentials: inherited }).DELTA_URL_FOR).toBeUndefined()
  const below = { ...env, DELTA_KEY_FOR: 'openai' }
  expect(addressesOf(OPENAI, { env: below, credentials: inherited }).DELTA_URL_FOR).toBeUndefined()
})

test('where a program gives only a key, the environment keeps the address of that very key, and not of another one', () => {
  const env = { OPENAI_API_KEY: 'o', OPENAI_BASE_URL: 'http://o.example', DELTA_BASE_URL: 'http://d.example' }
  const [same, other] = ['o', 'p'].map((apiKey) => addressesOf(OPENAI, { env, credentials: { apiKey } }))
  expect(same).toMatchObject({ OPENAI_BASE_URL: 'http://o.example', DELTA_BASE_URL: undefined })
  expect(other).toMatchObject({ OPENAI_BASE_URL: undefined, DELTA_BASE_URL: undefined })
})
