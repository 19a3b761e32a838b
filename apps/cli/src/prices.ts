import { readPrices } from '@delta/config-loader'
import type { EngineOptions } from '@delta/engine'
import type { Terminal } from './terminal.js'

/** The files of `--prices` and `DELTA_PRICES`. @throws {ConfigError} One cannot be used. */
export function pricesIn(
  { prices }: { prices?: string },
  { cwd, env: { DELTA_PRICES: usual } }: Terminal,
): EngineOptions['prices'] {
  return {
    ...(prices !== undefined && { first: readPrices(prices, { cwd }) }),
    ...(usual && { last: readPrices(usual, { cwd }) }),
  }
}
