/** True if any string in a JSON value, field names included, passes a test. Allocates nothing, unlike `mapTexts`. */
export function someText(value: unknown, test: (text: string) => boolean): boolean {
  if (typeof value === 'string') return test(value)
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some((each) => someText(each, test))
  return Object.keys(value).some(
    (name) => test(name) || someText((value as Record<string, unknown>)[name], test),
  )
}

/** The same JSON value with each of its strings changed, field names included. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [change(name), mapTexts(each, change)]),
  )
}
