import * as z from 'zod/mini'
import type { Tokens } from './usage.js'

const NAME = 'a name, or the beginning of names with a * behind it'
const TOKENS = 'the key must be a number of tokens'

/** `prices` as it is written: in `agent.yaml`, or a file of its own. */
export const priceRowsSchema = /* @__PURE__ */ z.lazy(() =>
  z
    .array(
      z.strictObject({
        match: z.string().check(z.regex(/^(?:[^*\s]+\*?|\*)$/, NAME)),
        ...ratesShape(),
        above: z.optional(
          z.record(z.string().check(z.regex(/^[1-9]\d*$/)), z.strictObject(ratesShape()), {
            error: ({ code }) => (code === 'invalid_key' ? TOKENS : undefined),
          }),
        ),
      }),
    )
    .check(z.check(findOverlaps, { when: ({ value }) => Array.isArray(value) })),
)

/** Also beside other mistakes: a person hears of all at once. */
function findOverlaps({ value, issues }: z.core.ParsePayload<unknown[]>): void {
  const names = value.map((row) => Object(row).match as unknown)
  for (const [index, name] of names.entries()) {
    if (typeof name !== 'string' || names.indexOf(name) === index) continue
    const message = `models "${name}" and "${name}" overlap. Remove one.`
    issues.push({ code: 'custom', path: [index, 'match'], message, input: name })
  }
}

function ratesShape() {
  const rate = z.number().check(z.minimum(0))
  const optionalRate = z.optional(rate)
  return {
    input: rate,
    output: rate,
    cache_read: optionalRate,
    cache_write: optionalRate,
    cache_write_1h: optionalRate,
    reasoning: optionalRate,
  }
}

/** What each bucket of tokens costs. US dollars for a million. */
export interface PriceRates {
  input: number
  output: number
  /** Default: as `input`. */
  cache_read?: number | undefined
  /** Default: as `input`. */
  cache_write?: number | undefined
  /** Default: twice `input`. */
  cache_write_1h?: number | undefined
  /** Default: as `output`. */
  reasoning?: number | undefined
}

/** The price of a model, or of all whose names begin alike. */
export interface PriceRow extends PriceRates {
  /** A name, or the beginning of names with a `*` behind it. The longest match counts. */
  match: string
  /** By a number of tokens: what a request costs as a whole that reads more of them, cached or not. Its defaults are its own. */
  above?: Readonly<Record<string, PriceRates>> | undefined
}

/** The rates of one request, none missing. */
export type Rates = { [Bucket in keyof PriceRates]-?: number } & {
  /** The date of the table that gave them; absent where the user did. */
  date?: string
}

/** The row for a model: its name before a beginning, a longer beginning before a shorter one. */
export function rowFor<Row extends Pick<PriceRow, 'match'>>(
  rows: readonly Row[],
  model: string,
): Row | undefined {
  let best: Row | undefined
  for (const row of rows) {
    if (row.match === model) return row
    const isMatch = row.match.endsWith('*') && model.startsWith(row.match.slice(0, -1))
    if (isMatch && row.match.length > (best?.match.length ?? 0)) best = row
  }
  return best
}

/**
 * Several lists of rows as one, in which a model has the row that it has in the first list with one: what an earlier list says
 * of a name, or of all names that begin alike, replaces what a later one does.
 */
export function mergeRows(lists: readonly (readonly PriceRow[] | undefined)[]): PriceRow[] {
  const merged: PriceRow[] = []
  for (const list of lists) merged.push(...(list ?? []).filter((row) => !merged.some(coveringOf(row))))
  return merged
}

function coveringOf({ match }: PriceRow): (earlier: PriceRow) => boolean {
  return ({ match: name }) => name === match || (name.endsWith('*') && match.startsWith(name.slice(0, -1)))
}

/**
 * The rates of a request.
 *
 * @param tokens - What it used, because a long request may cost more. Default: a short one.
 */
export function ratesOf({ match: _, above = {}, ...row }: PriceRow, tokens?: Tokens | null): Rates {
  const read = tokens ? tokens.input + tokens.cache_read + tokens.cache_write : 0
  const steps = Object.keys(above).map(Number)
  const step = Math.max(...steps.filter((limit) => read > limit))
  const { input, output, ...given } = above[step] ?? row
  return {
    input,
    cache_read: given.cache_read ?? input,
    cache_write: given.cache_write ?? input,
    cache_write_1h: given.cache_write_1h ?? 2 * input,
    output,
    reasoning: given.reasoning ?? output,
  }
}

/** What a scripted model costs. */
export const FREE: Rates = {
  input: 0,
  cache_read: 0,
  cache_write: 0,
  cache_write_1h: 0,
  output: 0,
  reasoning: 0,
}
