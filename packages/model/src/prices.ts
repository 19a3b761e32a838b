import { FREE, type PriceRow, type Rates, ratesOf, rowFor } from './price-rows.js'
import table from './prices.json' with { type: 'json' }
import type { Tokens } from './usage.js'

export { providerAt } from './price-apis.js'
export type { PriceRates, PriceRow, Rates } from './price-rows.js'

interface PricedProvider {
  /** Providers whose models it serves at their prices. */
  also?: string[]
  models: PriceRow[]
}

/** The shipped table, which `scripts/prices.mjs` writes. */
const PROVIDERS = table.providers as Readonly<Record<string, PricedProvider>>

/** The date of the shipped prices. */
export const PRICES_DATE: string = table.date

/** Whose request is priced. */
export interface PricedRequest {
  /** The model that answered; then the one that was asked. */
  models: readonly (string | null | undefined)[]
  /** From `providerAt`; `script` costs nothing. */
  provider: string | null
  /** The user's rows, in lists: the first list that has the model counts. */
  rows?: readonly (readonly PriceRow[])[] | undefined
  /** What it used: a long request may cost more. */
  tokens?: Tokens | null | undefined
}

/**
 * The rates of a request: the user's, else those of the shipped table for this provider.
 *
 * @returns Null where nobody knows them.
 */
export function ratesFor({ models, provider, rows = [], tokens }: PricedRequest): Rates | null {
  const names = models.filter((name) => name !== null && name !== undefined)
  const own = rows.flatMap((list) => firstRow(list, names) ?? [])[0]
  if (own) return ratesOf(own, tokens)
  if (provider === 'script') return FREE
  const { models: shipped = [], also = [] } = (provider && PROVIDERS[provider]) || {}
  const lists = [shipped, ...also.map((id) => PROVIDERS[id]?.models ?? [])]
  const row = lists.flatMap((list) => firstRow(list, names) ?? [])[0]
  return row ? { ...ratesOf(row, tokens), date: PRICES_DATE } : null
}

function firstRow(rows: readonly PriceRow[], names: readonly string[]): PriceRow | undefined {
  for (const name of names) {
    const row = rowFor(rows, name)
    if (row) return row
  }
  return undefined
}
