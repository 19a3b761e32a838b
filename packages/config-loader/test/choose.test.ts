import { VENDORS } from '@delta/model/vendors'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type Choice,
  choose,
  environment,
  LLM_BASE_URL,
  type Source,
  wantedBy,
  wantedOf,
} from '../src/choose.js'

// Random places, vendors, keys and addresses. Each value says who wrote it, and the rules are written here once more, from
// `docs/reference/environment.md`, in code that shares nothing with the loader's.

const NAMES = {
  keys: ['DELTA_API_KEY', 'OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'MY_KEY'],
  urls: ['DELTA_BASE_URL', 'OPENAI_BASE_URL', 'OPENAI_API_URL', 'ANTHROPIC_BASE_URL'],
}
const ADDRESSES = [
  'http://127.0.0.1:1',
  'http://gateway.example',
  'http://other.example',
  'http://run.example',
]
const PLACES = ['workspace', 'agent', 'settings', 'project', 'environment'] as const
type Place = (typeof PLACES)[number]

const address = fc.constantFrom(...ADDRESSES)
/** A key that is some vendor's own, or the one of the run above. */
const key = (place: string) => fc.constantFrom(`of-${place}`, `${place}-too`, 'of-run')
const rarely = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 2 })
const variables = (place: string) =>
  fc.record({
    ...Object.fromEntries(NAMES.keys.map((name) => [name, rarely(key(place))])),
    ...Object.fromEntries(NAMES.urls.map((name) => [name, rarely(address)])),
  })

const arrangements = fc.record({
  provider: fc.constantFrom('openai', 'anthropic'),
  apiKeyEnv: fc.option(fc.constant('MY_KEY'), { nil: undefined, freq: 3 }),
  workspace: variables('workspace'),
  agent: variables('agent'),
  baseUrl: rarely(address),
  project: variables('project'),
  environment: variables('environment'),
  areOfTools: fc.constantFrom<readonly Place[]>(
    [],
    [],
    ['agent', 'settings'],
    ['agent', 'settings', 'project'],
    ['settings'],
  ),
  isLinked: fc.boolean(),
  above: fc.record({
    vendor: fc.constantFrom('openai', 'anthropic', 'MY_KEY', 'nobody'),
    key: rarely(fc.constant('of-run')),
    address: rarely(address),
    env: variables('person'),
  }),
})
type Arrangement = typeof arrangements extends fc.Arbitrary<infer Value> ? Value : never

function sourcesOf(all: Arrangement): Source[] {
  const source = (of: Source['of'], place: Place, values: Source['values'], beside: string): Source => {
    const isOfTools = all.areOfTools.includes(place)
    return { of, from: place, values, places: {}, digest: '', isOfTools, beside }
  }
  return [
    source('workspace', 'workspace', all.workspace, 'workspace'),
    source('agent', 'agent', all.agent, 'agent'),
    source('agent', 'settings', { [LLM_BASE_URL]: all.baseUrl }, all.isLinked ? '' : 'agent'),
    source('project', 'project', all.project, 'project'),
    environment(all.environment),
  ]
}

/** The order of the places, then that of the names. */
function firstIn(all: Arrangement, names: readonly string[]) {
  for (const place of PLACES) {
    const values: Record<string, string | undefined> =
      place === 'settings' ? { base_url: all.baseUrl } : all[place]
    for (const name of names) if (values[name]) return { place, name, value: values[name] }
  }
  return undefined
}

function inEnv(env: Record<string, string | undefined>, names: readonly string[]) {
  const name = names.find((each) => env[each])
  return name === undefined ? undefined : { place: 'person' as const, name, value: env[name] }
}

/** Which key goes where, in words; or why nothing does. */
function expectedOf(all: Arrangement): string {
  const own = all.provider === 'anthropic' ? 'ANTHROPIC' : 'OPENAI'
  const urls = [
    'DELTA_BASE_URL',
    `${own}_BASE_URL`,
    ...(own === 'OPENAI' ? ['OPENAI_API_URL'] : []),
    'base_url',
  ]
  const rows = all.apiKeyEnv ? [['MY_KEY'], ['DELTA_API_KEY']] : [['DELTA_API_KEY', `${own}_API_KEY`]]
  const find = (look: (names: readonly string[]) => ReturnType<typeof firstIn> | ReturnType<typeof inEnv>) =>
    rows.map(look).find(Boolean) || undefined
  const ownKey = find((names) => firstIn(all, names))
  const ownUrl = firstIn(all, urls)

  const { above } = all
  const isOurs = above.vendor === (all.apiKeyEnv ?? all.provider) && (above.key || above.address)
  const takesRowsKey = !ownKey || ownKey.value === above.key || ownKey.place === 'workspace'
  const isAtHome = !ownUrl || ownUrl.value === above.address
  if (isOurs && takesRowsKey && isAtHome) return `${ownKey?.value ?? above.key} -> ${above.address}`

  const used = ownKey ?? find((names) => inEnv(above.env, names))
  const url = ownUrl ?? inEnv(above.env, urls)
  if (url && all.areOfTools.includes(url.place as Place)) {
    const beside = url.place === 'settings' ? (all.isLinked ? 'nowhere' : 'agent') : url.place
    const hasAnyKey = used || (isOurs && above.key)
    if (used?.place !== beside && (hasAnyKey || !url.value?.startsWith('http://127.'))) return 'stray'
  }
  if (url && (url.place === 'workspace' || url.place === 'project')) return 'ask'
  return `${used?.value} -> ${url?.value}`
}

function saidOf({ key: found, url, row, doubt }: Choice): string {
  return doubt ?? `${found?.value ?? row?.key} -> ${row ? row.address : url?.value}`
}

const aboveOf = ({ above: { vendor, key: ofRun, address: where, env } }: Arrangement) => ({
  pairs: [{ vendor, key: ofRun, address: where }],
  env: JSON.parse(JSON.stringify(env)) as Record<string, string>,
})

test('K1 to K6: whatever stands where, a key goes where the rules send it', () => {
  const check = (all: Arrangement) => {
    const { provider, apiKeyEnv } = all
    const choice = choose(wantedBy({ provider, apiKeyEnv }), sourcesOf(all), aboveOf(all))
    expect(saidOf(choice)).toBe(expectedOf(all))
  }
  fc.assert(fc.property(arrangements, check), { numRuns: 4000 })
})

test('K5: what is found for another vendor bears its name; the names for every vendor are of the agent itself', () => {
  const check = (all: Arrangement) => {
    for (const vendor of VENDORS.slice(0, 2)) {
      const { key: found, url } = choose(wantedOf(vendor), sourcesOf(all), aboveOf(all))
      expect([vendor.key, undefined]).toContain(found?.name)
      expect([...vendor.urlNames, undefined]).toContain(url?.name)
    }
  }
  fc.assert(fc.property(arrangements, check), { numRuns: 500 })
})

test('K6: a key of the run’s own files goes nowhere but to the address of its pair', () => {
  const check = (all: Arrangement) => {
    const isOnlyTheRuns = !JSON.stringify({ ...all, above: all.above.env }).includes('of-run')
    fc.pre(isOnlyTheRuns)
    const said = saidOf(choose(wantedBy({ provider: all.provider }), sourcesOf(all), aboveOf(all)))
    if (said.startsWith('of-run')) expect(said).toBe(`of-run -> ${all.above.address}`)
  }
  fc.assert(fc.property(arrangements, check), { numRuns: 500 })
})
