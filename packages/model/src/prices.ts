import { FREE, type PriceRow, type Rates, ratesOf, rowFor } from './price-rows.js'
import table from './prices.json' with { type: 'json' }
import type { Tokens } from './usage.js'

export type { PriceRates, PriceRow, Rates } from './price-rows.js'

interface PricedProvider {
  /** Which addresses are this provider's. */
  api: string
  /** Providers whose models it serves at their prices. */
  also?: string[]
  models: PriceRow[]
}

/** The shipped table, which `scripts/prices.mjs` writes. */
const PROVIDERS = table.providers as Readonly<Record<string, PricedProvider>>

/** The date of the shipped prices. */
export const PRICES_DATE: string = table.date

/**
 * Who serves at an address. Null for anybody else: a reseller has prices of its own.
 *
 * @example
 * providerAt('https://api.openai.com/v1') // 'openai'
 */
export function providerAt(address: string): string | null {
  const origin = URL.canParse(address) ? new URL(address).origin : ''
  const found = Object.entries(PROVIDERS).find(([, { api }]) => new RegExp(`${api}$`).test(origin)) // `api.openai.com.example` is not OpenAI's
  return found?.[0] ?? null
}

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
