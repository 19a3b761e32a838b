/** Each check throws a RangeError that names the function, the argument and the value, so that no NaN comes out of what went in. */

/** Refuses what is not a whole number from `from` to `to`; `bound` says where `to` comes from. */
export function requireCount(place: string, value: number, from: number, to = Infinity, bound = ''): void {
  if (Number.isSafeInteger(value) && value >= from && value <= to) return
  const range = to === Infinity ? `of at least ${from}` : `from ${from} to ${bound}${to}`
  throw new RangeError(`${place} must be a whole number ${range}, got ${show(value)}.`)
}

/** Refuses what is not a number strictly between two others. */
export function requireBetween(place: string, value: number, low: number, high: number): void {
  if (typeof value === 'number' && value > low && value < high) return
  const range = high === Infinity ? `above ${low}` : `between ${low} and ${high}`
  throw new RangeError(`${place} must be a number ${range}, got ${show(value)}.`)
}

/** Refuses NaN, infinities, numbers whose squares would become one, and what is not a number. */
export function requireFinite(place: string, value: number): void {
  if (Math.abs(value) <= 1e100 && typeof value === 'number') return
  throw new RangeError(`${place} must be a finite number, at most 1e100 in size, got ${show(value)}.`)
}

/** Refuses what is not a number from `low` to `high`. */
export function requireWithin(place: string, value: number, low: number, high: number): void {
  if (typeof value === 'number' && value >= low && value <= high) return
  throw new RangeError(`${place} must be a number from ${low} to ${high}, got ${show(value)}.`)
}

/** Refuses NaN and what is not a number. */
export function requireNumber(place: string, value: number): void {
  if (typeof value === 'number' && !Number.isNaN(value)) return
  throw new RangeError(`${place} must be a number, got ${show(value)}.`)
}

/** A value of any type, as a message names it. */
export function show(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
