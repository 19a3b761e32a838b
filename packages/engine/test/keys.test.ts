import { expect, test } from 'vitest'
import { baseEnvironment, credentialsFor } from '../src/options.js'

const OPENAI = { provider: 'openai', parameters: {} } as const
const exported = { OPENAI_API_KEY: 'o', OPENAI_BASE_URL: 'http://o.example' }

test('T8: a program that embeds the engine gives the pair of its model; sub-agents also get what the environment holds', () => {
  const env = { ...exported, HOME: '/h' }
  expect(credentialsFor(OPENAI, { env, credentials: { apiKey: 'k' } })).toEqual({
    pairs: [{ vendor: 'openai', key: 'k', address: 'https://api.openai.com/v1' }],
    env: exported,
  })
  const llm = { ...OPENAI, baseUrl: 'http://127.0.0.1:1/v1' }
  expect(credentialsFor(llm, { env: {} })).toEqual({
    pairs: [{ vendor: 'openai', address: 'http://127.0.0.1:1/v1' }],
    env: {},
  })
  expect(credentialsFor(OPENAI, { env: {} }).pairs).toEqual([{ vendor: 'openai' }]) // nothing was given
})

test('an api_key_env is a vendor of its own, whose variable no command gets, also where an override replaced it', () => {
  const llm = { ...OPENAI, apiKeyEnv: 'GATEWAY_KEY', otherKeyEnv: 'OLD_KEY' }
  const env = { GATEWAY_KEY: 'g', OLD_KEY: 'old' }
  const credentials = { apiKey: 'g', baseUrl: 'http://g.example' }
  expect(credentialsFor(llm, { env, credentials })).toEqual({
    pairs: [{ vendor: 'GATEWAY_KEY', key: 'g', address: 'http://g.example' }],
    env,
  })
})

test('K6: what the run above handed on by name is not what the person exported, and goes no further', () => {
  const env = { ...exported, ANTHROPIC_BASE_URL: 'http://person.example' }
  const run = {
    runId: 'r',
    directory: '/w/.delta/r',
    workDirectory: '/w',
    runsDirectory: undefined,
    paths: { journal: '/j' },
  }
  const credentials = {
    apiKey: 'o',
    baseUrl: 'http://o.example',
    exported: { ANTHROPIC_BASE_URL: 'http://person.example' },
  }
  const made = baseEnvironment(run, { home: '/a', llm: OPENAI }, { env, credentials })
  expect(made).not.toHaveProperty('OPENAI_BASE_URL')
  expect(made).toMatchObject({ ANTHROPIC_BASE_URL: 'http://person.example' })
})
