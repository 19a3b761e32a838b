import apis from './price-apis.json' with { type: 'json' }

/**
 * Who serves at an address. Null for anybody else: a reseller has prices of its own.
 *
 * @example
 * providerAt('https://api.openai.com/v1') // 'openai'
 */
export function providerAt(address: string): string | null {
  const origin = URL.canParse(address) ? new URL(address).origin : ''
  const found = Object.entries(apis).find(([, api]) => new RegExp(`${api}$`).test(origin)) // `api.openai.com.example` is not OpenAI's
  return found?.[0] ?? null
}
