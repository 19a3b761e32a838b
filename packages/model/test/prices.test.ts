import { calcPrice } from '@pydantic/genai-prices'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mergeRows, type PriceRow, priceRowsSchema } from '../src/internal.js'
import { PRICES_DATE, providerAt, type Rates, ratesFor } from '../src/prices.js'
import table from '../src/prices.json' with { type: 'json' }
import { normaliseUsage, type Tokens } from '../src/usage.js'
import { VENDORS } from '../src/vendors.js'

const nothing = { input: 0, cache_read: 0, cache_write: 0, output: 0, reasoning: 0 }

/** In US dollars. */
function costOf(tokens: Tokens, rates: Rates): number {
  const { input, cache_read, cache_write, cache_write_1h = 0, output, reasoning } = tokens
  const sum =
    input * rates.input +
    cache_read * rates.cache_read +
    (cache_write - cache_write_1h) * rates.cache_write +
    cache_write_1h * rates.cache_write_1h +
    output * rates.output +
    reasoning * rates.reasoning
  return sum / 1e6
}

const PLAIN: PriceRow = { match: 'plain', input: 3, output: 15 }
const FULL: PriceRow = {
  match: 'full-*',
  input: 3,
  cache_read: 0.3,
  cache_write: 3.75,
  cache_write_1h: 6,
  output: 15,
  reasoning: 20,
  above: {
    200000: { input: 6, cache_read: 0.6, cache_write: 7.5, output: 22.5 },
    500000: { input: 9, output: 30, reasoning: 40 },
  },
}
const M = 1_000_000

test.each<[what: string, model: string, tokens: Partial<Tokens>, dollars: number]>([
  ['input', 'full-1', { input: 1000 }, 0.003],
  ['input from the cache', 'full-1', { cache_read: 100_000 }, 0.03],
  ['input written into the cache', 'full-1', { cache_write: 100_000 }, 0.375],
  ['a part of it kept for an hour', 'full-1', { cache_write: 100_000, cache_write_1h: 40_000 }, 0.465],
  ['output', 'full-1', { output: M }, 15],
  ['reasoning', 'full-1', { reasoning: M }, 20],
  ['all of them', 'full-1', { input: 1000, cache_read: 1000, cache_write: 1000, output: 100 }, 0.00855],
  ['reasoning without a price, as output', 'plain', { reasoning: M }, 15],
  ['a cache without a price, as input', 'plain', { cache_read: M, cache_write: M }, 6],
  ['an hour in it without a price, as twice the input', 'plain', { cache_write: M, cache_write_1h: M }, 6],
  ['a request that reads as much as the limit', 'full-1', { input: 150_000, cache_read: 50_000 }, 0.465],
  ['a request that reads more, as a whole', 'full-1', { input: 150_001, cache_read: 50_000 }, 0.930006],
  ['its output, too', 'full-1', { cache_write: 200_001, output: M }, 24.0000075],
  ['defaults in the higher prices', 'full-1', { input: 200_001, reasoning: M }, 23.700006],
  ['a request above the second limit', 'full-1', { cache_read: 500_001, reasoning: M }, 44.500009],
  ['any output, however long, as in a short request', 'full-1', { input: 1, output: 3 * M }, 45.000003],
])('the price of %s', (_what, model, given, dollars) => {
  const tokens = { ...nothing, ...given }
  const rates = ratesFor({ models: [model], provider: null, rows: [[PLAIN, FULL]], tokens })
  expect(rates && costOf(tokens, rates)).toBeCloseTo(dollars, 9)
})

const rate = fc.double({ min: 0, max: 1000, noNaN: true })
const optionalRate = fc.option(rate, { nil: undefined })
const someRates = {
  input: rate,
  output: rate,
  cache_read: optionalRate,
  cache_write: optionalRate,
  cache_write_1h: optionalRate,
  reasoning: optionalRate,
}
const someRows = fc.array(
  fc.record({
    match: fc.constant('*'),
    ...someRates,
    above: fc.dictionary(fc.integer({ min: 1, max: 3 * M }).map(String), fc.record(someRates)),
  }),
  { minLength: 1, maxLength: 1 },
)
const count = fc.option(fc.integer({ min: -1, max: M }), { nil: undefined })
const someUsage = fc.oneof(
  fc.record({
    prompt_tokens: count,
    completion_tokens: count,
    prompt_tokens_details: fc.record({ cached_tokens: count, cache_write_tokens: count }),
    completion_tokens_details: fc.record({ reasoning_tokens: count }),
  }),
  fc.record({
    input_tokens: count,
    output_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
    cache_creation: fc.record({ ephemeral_1h_input_tokens: count }),
  }),
)

test('whatever a server reports and a row says, no request costs less than nothing', () => {
  fc.assert(
    fc.property(someUsage, someRows, (usage, rows) => {
      expect(priceRowsSchema.safeParse(rows).success).toBe(true)
      const tokens = normaliseUsage(usage)
      const rates = ratesFor({ models: ['any'], provider: null, rows: [rows], tokens })
      if (tokens === null || rates === null) return
      expect(costOf(tokens, rates)).toBeGreaterThanOrEqual(0)
    }),
  )
})

test('a name counts before a beginning, and a longer beginning before a shorter one', () => {
  const rows = ['*', 'gpt-*', 'gpt-5', 'gpt-5*', 'gpt-5-mini*'].map((match, input) => ({
    match,
    input,
    output: 1,
  }))
  const inputOf = (model: string) => ratesFor({ models: [model], provider: null, rows: [rows] })?.input
  expect(['gpt-5', 'gpt-5.1', 'gpt-5-mini', 'gpt-4', 'o3'].map(inputOf)).toEqual([2, 3, 4, 1, 0])
})

test('the user decides before the shipped table, the first list first, and the model that answered before the one that was asked', () => {
  const request = { models: ['claude-sonnet-5-20260101', 'mine'], provider: 'anthropic' }
  const [one, two] = [3, 4].map((input) => [{ match: 'claude-*', input, output: 1 }])
  const asked = [{ match: 'mine', input: 9, output: 1 }]
  expect(ratesFor({ ...request, rows: [asked, one ?? [], two ?? []] })?.input).toBe(9)
  expect(ratesFor({ ...request, rows: [[], two ?? [], one ?? []] })?.input).toBe(4)
  expect(ratesFor({ ...request, rows: [[...asked, ...(one ?? [])]] })?.input).toBe(3)
  expect(ratesFor(request)).toEqual({ ...ratesFor({ ...request, models: ['claude-sonnet-5'] }) })
  expect(ratesFor({ ...request, models: [undefined, null, 'claude-sonnet-5'] })?.input).toBe(
    ratesFor(request)?.input,
  )
})

test('the rates of the shipped table bear its date, and those of the user none', () => {
  const [row] = table.providers.anthropic.models
  const request = { models: [row?.match.replace('*', '')], provider: 'anthropic' }
  expect(ratesFor(request)).toMatchObject({ date: PRICES_DATE, input: row?.input })
  expect(ratesFor({ ...request, rows: [[{ match: '*', input: 1, output: 1 }]] })).not.toHaveProperty('date')
})

test('a known model has no price at an unknown server, nor an unknown model at a known one', () => {
  expect(ratesFor({ models: ['gpt-5'], provider: providerAt('https://gateway.example/v1') })).toBeNull()
  expect(ratesFor({ models: ['my-finetune'], provider: 'openai' })).toBeNull()
  expect(ratesFor({ models: [undefined], provider: 'openai' })).toBeNull()
})

test('a script costs nothing, unless a row says what it costs', () => {
  const free = ratesFor({ models: [], provider: 'script' })
  expect(free && costOf({ ...nothing, input: M, output: M }, free)).toBe(0)
  const rows = [[{ match: '*', input: 2, output: 3 }]]
  expect(ratesFor({ models: ['any'], provider: 'script', rows })).toMatchObject({ input: 2, output: 3 })
})

test.each([
  ['https://api.anthropic.com', 'anthropic'],
  ['https://api.openai.com/v1', 'openai'],
  ['https://openrouter.ai/api/v1', 'openrouter'],
  ['https://generativelanguage.googleapis.com/v1beta/openai', 'google'],
  ['https://team.openai.azure.com/openai/v1', 'azure'],
  ['https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1', 'aws'],
  ['https://api.groq.com/openai/v1', 'groq'],
  ['https://api.x.ai/v1', 'x-ai'],
  ['http://localhost:11434/v1', null],
  ['https://api.openai.com.proxy.example/v1', null],
  ['https://proxy.example/https://api.openai.com/v1', null],
  ['https://proxy.example/v1.googleapis.com', null],
  ['not an address', null],
])('the provider at %s is %s', (address, provider) => expect(providerAt(address)).toBe(provider))

test('each vendor whose API Delta speaks has prices, under its own id', () => {
  for (const { id, url } of VENDORS) if (url !== undefined) expect(providerAt(url)).toBe(id)
})

test('the shipped rows are sorted, and such as a user could write', () => {
  for (const { models } of Object.values(table.providers)) {
    const names = models.map(({ match }) => match)
    expect(names.length).toBeGreaterThan(0)
    expect(names.toSorted()).toEqual(names)
    expect(priceRowsSchema.safeParse(models).success).toBe(true)
  }
})

const SEED = process.env.PRICES_SEED ?? String(Math.floor(Math.random() * 2 ** 31))
const SIZES = [1000, 128_001, 200_001, 272_001]

test(`20 models cost what @pydantic/genai-prices says they do (PRICES_SEED=${SEED})`, () => {
  const noon = new Date(`${PRICES_DATE}T12:00:00Z`)
  const drawn = sample(
    Object.entries(table.providers).flatMap(([provider, { models }]) =>
      models.map((row) => ({ provider, row: row as PriceRow })),
    ),
    20,
  )
  for (const { provider, row } of drawn) {
    const dated = row.match.endsWith('-20*')
      ? [`${row.match.slice(0, -1)}260101`, `${row.match.slice(0, -1)}26-01-01`]
      : []
    const names = [row.match.replace('*', ''), ...dated]
    const isKnown = (name: string) =>
      calcPrice({ input_tokens: 1 }, name, { providerId: provider, timestamp: noon })
    const name = names.find(isKnown) ?? ''
    for (const size of SIZES) {
      const keptForAnHour = row.cache_write_1h === undefined ? 0 : 100 // the package has no default for it
      const parts = {
        cache_read: 500,
        cache_write: 300,
        cache_write_1h: keptForAnHour,
        output: 200,
        reasoning: 50,
      }
      const tokens = { input: size - 800, ...parts }
      const usage = {
        input_tokens: size,
        cache_read_tokens: parts.cache_read,
        cache_write_tokens: parts.cache_write,
        cache_write_1h_tokens: keptForAnHour,
        output_tokens: parts.output + parts.reasoning,
        output_reasoning_tokens: parts.reasoning,
      }
      const theirs = calcPrice(usage, name, { providerId: provider, timestamp: noon })
      const rates = ratesFor({ models: [name], provider, tokens })
      expect(rates && costOf(tokens, rates), `${provider} ${name}, ${size} tokens`).toBeCloseTo(
        theirs?.total_price ?? -1,
        9,
      )
    }
  }
})

/** A draw without repetition, the same for the same seed. */
function sample<T>(items: readonly T[], count: number): T[] {
  let state = Number(SEED)
  const next = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return state / 2 ** 32
  }
  const left = [...items]
  return Array.from({ length: count }, () => left.splice(Math.floor(next() * left.length), 1)).flat()
}

test('lists of rows merged into one give each model the price that they give it one after another', () => {
  const name = fc.stringMatching(/^[ab]{1,3}\*?$/)
  const rows = fc.uniqueArray(name, { maxLength: 5 }).map((names) => names.map((match) => ({ match })))
  const priced = fc
    .tuple(rows, rows, rows)
    .map((lists) =>
      lists.map((list, first) =>
        list.map(({ match }, second) => ({ match, input: 10 * first + second, output: 0 })),
      ),
    )
  fc.assert(
    fc.property(priced, fc.stringMatching(/^[ab]{1,4}$/), (lists, model) => {
      const of = (all: PriceRow[][]) => ratesFor({ models: [model], provider: null, rows: all })
      const merged = mergeRows(lists)
      expect(of([merged])).toEqual(of(lists))
      expect(priceRowsSchema.safeParse(merged).success).toBe(true)
    }),
  )
})
