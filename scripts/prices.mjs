import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { calcPrice, findProvider } from '@pydantic/genai-prices'
import { root } from './lib/environment.mjs'

/**
 * @typedef {import('@pydantic/genai-prices').Provider} Provider
 * @typedef {import('@pydantic/genai-prices').ModelPrice} ModelPrice
 * @typedef {import('@pydantic/genai-prices').MatchLogic} MatchLogic
 * @typedef {Record<string, number>} Rates
 * @typedef {{ match: string, above?: Record<string, Rates>, [rate: string]: unknown }} Row
 */

const FILE = join(root, 'packages/model/src/prices.json')
/** Apart, because each run over HTTP asks for the provider, and few for a price. */
const APIS_FILE = join(root, 'packages/model/src/price-apis.json')
const PROVIDERS = [
  ...['anthropic', 'aws', 'azure', 'cerebras', 'deepseek', 'fireworks', 'google', 'groq', 'mistral'],
  ...['openai', 'openrouter', 'together', 'x-ai'],
]

/** Our name of each rate, by the package's name. Audio, images and searches are left out, because a chat has no tokens of them. */
const RATES = {
  input_mtok: 'input',
  cache_read_mtok: 'cache_read',
  cache_write_mtok: 'cache_write',
  cache_write_1h_mtok: 'cache_write_1h',
  output_mtok: 'output',
  output_reasoning_mtok: 'reasoning',
}

/**
 * Writes the prices that the packages ship, from those that the package `@pydantic/genai-prices` has on the day of a release. With `--check`
 * it only says whether they are what that package says for the day in the file.
 */
function main() {
  const isCheck = process.argv.includes('--check')
  const date = isCheck ? JSON.parse(readFileSync(FILE, 'utf8')).date : new Date().toISOString().slice(0, 10)
  const texts = { [FILE]: table(date), [APIS_FILE]: apis() }
  for (const [file, text] of Object.entries(texts)) {
    if (!isCheck) writeFileSync(file, text)
    else if (readFileSync(file, 'utf8') !== text) {
      console.error(`${file} is not what the package says. Update it with: node scripts/prices.mjs`)
      return 1
    }
  }
  return 0
}

function providers() {
  return PROVIDERS.flatMap((id) => findProvider({ providerId: id }) ?? [])
}

/** Which addresses are whose. */
function apis() {
  const patterns = providers().map(({ id, api_pattern }) => [id, `^${api_pattern}`])
  return `${JSON.stringify(Object.fromEntries(patterns), null, 2)}\n`
}

/** One model a line, so that a change can be reviewed. @param {string} date */
function table(date) {
  const parts = providers().map((provider) => {
    const rows = rowsOf(provider, new Date(`${date}T12:00:00Z`)).map(
      (row) => `        ${JSON.stringify(row)}`,
    )
    const also = (provider.fallback_model_providers ?? []).filter((id) => PROVIDERS.includes(id))
    return `    ${JSON.stringify(provider.id)}: {${also.length > 0 ? `\n      "also": ${JSON.stringify(also)},` : ''}
      "models": [
${rows.join(',\n')}
      ]
    }`
  })
  return `{
  "date": ${JSON.stringify(date)},
  "source": "@pydantic/genai-prices",
  "license": ${JSON.stringify(license())},
  "providers": {
${parts.join(',\n')}
  }
}
`
}

/** The text that goes with a copy. */
function license() {
  const entry = createRequire(import.meta.url).resolve('@pydantic/genai-prices')
  return readFileSync(join(dirname(entry), '../LICENSE'), 'utf8').trim()
}

/** @param {Provider} provider @param {Date} noon */
function rowsOf(provider, noon) {
  /** @type {Map<string, Row>} */
  const rows = new Map()
  for (const model of provider.models) {
    for (const match of namesOf(model.match)) {
      // a pattern of ours is simpler than theirs: a row stays only if the package takes the same model for the name
      const found = examplesOf(match).map((name) => priceOf(provider, name, noon))
      const rates = ratesOf(found.find((price) => price?.model.id === model.id)?.model_price ?? {})
      if (!rates) continue
      if (rows.has(match)) throw new Error(`${provider.id}: two rows "${match}" overlap, one of ${model.id}.`)
      rows.set(match, { match, ...rates })
    }
  }
  return [...rows.values()].sort((one, other) => (one.match < other.match ? -1 : 1))
}

/** Exact names, and beginnings with a `*`. A date behind a name has the price of the name. @param {MatchLogic} logic @returns {string[]} */
function namesOf(logic) {
  if ('or' in logic) return logic.or.flatMap(namesOf)
  if ('and' in logic) return logic.and.flatMap(namesOf)
  if ('equals' in logic) return [logic.equals]
  if ('ends_with' in logic) return [logic.ends_with]
  if ('starts_with' in logic) return [`${logic.starts_with}*`]
  if ('contains' in logic) return [`${logic.contains}*`]
  const dated = /^\^(.+-)\\d\{(?:8|4\}-\\d\{2\}-\\d\{2)\}\$$/.exec(logic.regex)
  return dated ? [`${(dated[1] ?? '').replaceAll('\\', '')}20*`] : []
}

/** Names that a row is for: what stands before the `*`, alone and as the beginning of a date. @param {string} match */
function examplesOf(match) {
  const name = match.replace('*', '')
  return match.endsWith('-20*') ? [name, `${name}260101`, `${name}26-01-01`] : [name]
}

/** What the package says of a name, with the prices of that hour. @param {Provider} provider @param {string} name @param {Date} noon */
function priceOf(provider, name, noon) {
  const usage = { input_tokens: 1000, output_tokens: 1000 }
  const price = calcPrice(usage, name, { providerId: provider.id, timestamp: noon })
  return price?.provider.id === provider.id ? price : undefined
}

/** Undefined for a model that is not paid by tokens. @param {ModelPrice} given */
function ratesOf(given) {
  if (given.input_mtok === undefined || given.output_mtok === undefined) return undefined
  /** @type {Rates} */
  const rates = {}
  /** @type {Record<string, Rates>} */
  const above = {}
  for (const [key, name] of Object.entries(RATES)) {
    const price = given[key]
    if (price === undefined) continue
    rates[name] = typeof price === 'number' ? price : price.base
    for (const { start, price: higher } of typeof price === 'number' ? [] : price.tiers)
      above[start] = { ...above[start], [name]: higher }
  }
  for (const higher of Object.values(above)) // a rate without a tier of its own stays
    for (const [name, rate] of Object.entries(rates)) higher[name] ??= rate
  return { ...rates, ...(Object.keys(above).length > 0 && { above }) }
}

process.exitCode = main()
