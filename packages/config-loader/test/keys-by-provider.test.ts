import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadEnvironment } from '../src/index.js'
import { directoryOf } from './agents.js'

// A key goes to its own provider only, wherever it stands.

const PLACES = ['workspace', 'agent', 'project', 'environment'] as const
const KEYS = { OPENAI_API_KEY: 'of-openai', ANTHROPIC_API_KEY: 'of-anthropic' }

/** Variables in one place; `llm` is the agent's. */
async function found(
  place: (typeof PLACES)[number],
  variables: Record<string, string>,
  llm: { provider: 'openai' | 'anthropic'; apiKeyEnv?: string } | undefined,
  more: object = {},
) {
  const text = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`)
  const file = { workspace: 'work/.env', agent: 'agent/.env', project: '.env', environment: 'unread' }[place]
  const root = await directoryOf({
    '.git/HEAD': '',
    'agent/agent.yaml': '',
    'work/keep': '',
    [file]: text.join(''),
  })
  const env = place === 'environment' ? variables : {}
  const places = { workDirectory: join(root, 'work'), agentHome: join(root, 'agent') }
  return loadEnvironment({ ...places, env, llm, ...more })
}

test.each(
  PLACES.flatMap((place) => [
    [place, 'openai', KEYS, 'of-openai'] as const,
    [place, 'anthropic', KEYS, 'of-anthropic'] as const,
    [place, 'openai', { ANTHROPIC_API_KEY: 'a' }, undefined] as const,
    [place, 'anthropic', { OPENAI_API_KEY: 'o' }, undefined] as const,
    [place, 'openai', { DELTA_API_KEY: 'd', ...KEYS }, 'd'] as const,
    [place, 'anthropic', { DELTA_API_KEY: 'd', ...KEYS }, 'd'] as const,
  ]),
)('in the %s, %s finds its own key: %j → %s', async (place, provider, variables, apiKey) => {
  const environment = await found(place, variables, { provider })
  expect(environment.apiKey).toBe(apiKey)
  // a command that lists a key gets it from wherever it was found, also that of the other provider
  expect(environment.found).toEqual(variables)
})

test.each(PLACES)('in the %s, an address is found by its own provider only', async (place) => {
  const trusted = { trustWorkspaceEnv: true }
  const urls = { OPENAI_BASE_URL: 'http://o.example', ANTHROPIC_BASE_URL: 'http://a.example' }
  for (const [provider, baseUrl] of [
    ['openai', 'http://o.example'],
    ['anthropic', 'http://a.example'],
  ] as const) {
    expect(await found(place, urls, { provider }, trusted)).toMatchObject({ baseUrl })
    const foreign = Object.fromEntries(Object.entries(urls).filter(([, url]) => url !== baseUrl))
    expect(await found(place, foreign, { provider })).not.toHaveProperty('baseUrl')
  }
})

test("where another provider is set, the agent's DELTA_ key and address are not for it; those with its name are", async () => {
  const variables = { DELTA_API_KEY: 'd', DELTA_BASE_URL: 'http://gateway.example' }
  const llm = { provider: 'anthropic', isOtherProvider: true } as const
  const env = { ANTHROPIC_API_KEY: 'of-anthropic' }
  const environment = await found('agent', variables, llm, { env })
  expect(environment).toMatchObject({ apiKey: 'of-anthropic' })
  expect(environment).not.toHaveProperty('baseUrl')
  const named = { ...variables, ANTHROPIC_BASE_URL: 'http://a.example' }
  expect(await found('agent', named, llm, { env })).toMatchObject({ baseUrl: 'http://a.example' })
  expect(await found('environment', variables, llm)).toMatchObject({ apiKey: 'd' })
})

test("ANTHROPIC_BASE_URL in the workspace's .env is refused without trust, and no command of another provider gets it", async () => {
  const urls = { ANTHROPIC_BASE_URL: 'http://evil.example', ANTHROPIC_API_KEY: 'k' }
  await expect(found('workspace', urls, { provider: 'anthropic' })).rejects.toThrow(
    'work/.env:1:1: The endpoint http://evil.example/ (ANTHROPIC_BASE_URL) is not used',
  )
  expect(await found('workspace', urls, { provider: 'openai' })).toMatchObject({
    found: { ANTHROPIC_API_KEY: 'k' },
  })
  expect((await found('workspace', urls, { provider: 'openai' })).found).not.toHaveProperty(
    'ANTHROPIC_BASE_URL',
  )
})

test.each(PLACES)(
  "in the %s, the variable of api_key_env wins, and the provider's own key is never taken for it",
  async (place) => {
    const llm = { provider: 'openai', apiKeyEnv: 'GATEWAY_KEY' } as const
    const variables = { GATEWAY_KEY: 'g', DELTA_API_KEY: 'd', OPENAI_API_KEY: 'o' }
    const environment = await found(place, variables, llm)
    expect(environment).toMatchObject({ apiKey: 'g', found: variables })
    expect(environment.origins).toEqual([{ name: 'GATEWAY_KEY', from: expect.any(String) }])
    expect(await found(place, { OPENAI_API_KEY: 'o' }, llm)).not.toHaveProperty('apiKey')
    expect(await found(place, variables, { provider: 'openai' })).toMatchObject({ apiKey: 'd' })
  },
)

test('api_key_env wins over a DELTA_API_KEY in a nearer file', async () => {
  const env = { GATEWAY_KEY: 'g' }
  const llm = { provider: 'openai', apiKeyEnv: 'GATEWAY_KEY' } as const
  expect(await found('workspace', { DELTA_API_KEY: 'd' }, llm, { env })).toMatchObject({ apiKey: 'g' })
})

test('below a run of another provider its DELTA_ variables do not count, below one of the same they do', async () => {
  const env = {
    DELTA_KEY_FOR: 'openai',
    DELTA_API_KEY: 'o',
    DELTA_BASE_URL: 'http://o.example',
    ANTHROPIC_API_KEY: 'a',
  }
  const anthropic = await found('environment', env, { provider: 'anthropic' })
  expect(anthropic).toMatchObject({ apiKey: 'a' })
  expect(anthropic).not.toHaveProperty('baseUrl')
  expect(await found('environment', env, { provider: 'openai' })).toMatchObject({
    apiKey: 'o',
    baseUrl: 'http://o.example',
  })
  const gateway = { provider: 'openai', apiKeyEnv: 'GATEWAY_KEY' } as const
  expect(await found('environment', env, gateway)).not.toHaveProperty('apiKey')
  const own = { ...env, DELTA_KEY_FOR: 'GATEWAY_KEY' }
  expect(await found('environment', own, gateway)).toMatchObject({ apiKey: 'o' })
})

test('below a run its address is for its key only: another key goes to its own provider', async () => {
  const handedOn = {
    DELTA_KEY_FOR: 'openai',
    DELTA_URLS_OF_RUN: 'DELTA_BASE_URL OPENAI_BASE_URL',
    DELTA_API_KEY: 'o',
    OPENAI_API_KEY: 'o',
    DELTA_BASE_URL: 'http://o.example',
    OPENAI_BASE_URL: 'http://o.example',
  }
  const env = { ...handedOn, GATEWAY_KEY: 'g' }
  for (const [key, llm] of [
    [{ OPENAI_API_KEY: 'own' }, { provider: 'openai' }],
    [{ DELTA_API_KEY: 'own' }, { provider: 'openai' }],
    [{}, { provider: 'openai', apiKeyEnv: 'GATEWAY_KEY' }],
  ] as const) {
    const environment = await found('agent', key, llm, { env })
    expect(environment.apiKey).toMatch(/^(own|g)$/)
    expect(environment).not.toHaveProperty('baseUrl')
    for (const name of Object.keys(key)) // nor does a command get the one with the other
      expect(environment.found).not.toHaveProperty(name.replace('_API_KEY', '_BASE_URL'))
    const address = await found('agent', { ...key, OPENAI_BASE_URL: 'http://own.example' }, llm, { env })
    expect(address).toMatchObject({ baseUrl: 'http://own.example' })
    // the addresses of the person who started the run above are for every key
    const ofPerson = await found('agent', key, llm, { env: { ...env, DELTA_URLS_OF_RUN: '' } })
    expect(ofPerson).toMatchObject({ baseUrl: 'http://o.example' })
  }
  // or the workspace would choose the server
  const theirs = await found('workspace', { OPENAI_API_KEY: 'own' }, { provider: 'openai' }, { env })
  expect(theirs).toMatchObject({ apiKey: 'own', baseUrl: 'http://o.example' })
  const same = await found('agent', { OPENAI_API_KEY: 'o' }, { provider: 'openai' }, { env })
  expect(same).toMatchObject({ apiKey: 'o', baseUrl: 'http://o.example' })
  const { DELTA_API_KEY: _, OPENAI_API_KEY: __, ...keyless } = handedOn
  const local = await found('agent', {}, { provider: 'openai' }, { env: keyless })
  expect(local).toMatchObject({ baseUrl: 'http://o.example' })
  expect(local).not.toHaveProperty('apiKey')
})
