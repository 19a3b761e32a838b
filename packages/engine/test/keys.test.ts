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
  const { DELTA_KEY_FOR, DELTA_HANDED_ON, DELTA_BASE_URL, OPENAI_BASE_URL, ANTHROPIC_BASE_URL } =
    baseEnvironment({ ...RUN, runsDirectory: undefined }, { home: '/a', llm }, options)
  return { DELTA_KEY_FOR, DELTA_HANDED_ON, DELTA_BASE_URL, OPENAI_BASE_URL, ANTHROPIC_BASE_URL }
}

test("below a run of another provider, that run's address is not handed on as this one's", () => {
  const handedOn = { DELTA_KEY_FOR: 'openai', DELTA_HANDED_ON: 'DELTA_API_KEY DELTA_BASE_URL' }
  const env = { ...handedOn, DELTA_API_KEY: 'o', DELTA_BASE_URL: 'http://o.example' }
  for (const credentials of [{ apiKey: 'a', found: {} }, { apiKey: 'a' }]) {
    expect(addressesOf(ANTHROPIC, { env, credentials })).toEqual({
      DELTA_KEY_FOR: 'anthropic',
      DELTA_HANDED_ON: 'DELTA_API_KEY ANTHROPIC_API_KEY',
    })
    expect(credentialVariables(ANTHROPIC, { env, credentials })).not.toHaveProperty('DELTA_BASE_URL')
  }
})

test('an address that was not found, because it is for another key, reaches no command', () => {
  const handedOn = { DELTA_KEY_FOR: 'openai', DELTA_HANDED_ON: 'OPENAI_API_KEY OPENAI_BASE_URL' }
  const env = { ...handedOn, OPENAI_API_KEY: 'o', OPENAI_BASE_URL: 'http://o.example' }
  const credentials = { apiKey: 'own', found: { OPENAI_API_KEY: 'own' } }
  expect(addressesOf(OPENAI, { env, credentials })).toEqual({
    DELTA_KEY_FOR: 'openai',
    DELTA_HANDED_ON: 'OPENAI_API_KEY DELTA_API_KEY',
  })
  expect(credentialVariables(OPENAI, { env, credentials })).toEqual({
    DELTA_API_KEY: 'own',
    OPENAI_API_KEY: 'own',
  })
})

test("an engine lists what is not as the person set it: an address with its key, and not the person's own", () => {
  const env = { OPENAI_API_KEY: 'o', OPENAI_BASE_URL: 'http://o.example' }
  const listed = (baseUrl: string, more: NodeJS.ProcessEnv = {}) => {
    const options = { env: { ...env, ...more }, credentials: { apiKey: 'o', baseUrl, found: env } }
    return addressesOf(OPENAI, options).DELTA_HANDED_ON?.split(' ').sort()
  }
  const ofDelta = ['DELTA_API_KEY', 'DELTA_BASE_URL']
  const ofOpenAi = ['OPENAI_API_KEY', 'OPENAI_BASE_URL']
  expect(listed('http://o.example')).toEqual(ofDelta)
  expect(
    listed('http://o.example', { DELTA_API_KEY: 'o', DELTA_BASE_URL: 'http://o.example' }),
  ).toBeUndefined()
  expect(listed('http://own.example')).toEqual([...ofDelta, ...ofOpenAi])
  // what the run above set stays listed
  expect(listed('http://o.example', { DELTA_HANDED_ON: ofOpenAi.join(' ') })).toEqual([
    ...ofDelta,
    ...ofOpenAi,
  ])
})

test('where a program gives only a key, the environment keeps the address of that very key, and not of another one', () => {
  const env = { OPENAI_API_KEY: 'o', OPENAI_BASE_URL: 'http://o.example', DELTA_BASE_URL: 'http://d.example' }
  const [same, other] = ['o', 'p'].map((apiKey) => addressesOf(OPENAI, { env, credentials: { apiKey } }))
  expect(same).toMatchObject({ OPENAI_BASE_URL: 'http://o.example', DELTA_BASE_URL: undefined })
  expect(other).toMatchObject({ OPENAI_BASE_URL: undefined, DELTA_BASE_URL: undefined })
})
