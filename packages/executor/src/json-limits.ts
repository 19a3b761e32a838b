/** To parse more would stop the process for seconds. */
export const MOST_VALUES = 2_000_000

/** Counts the characters of a JSON text that begin or part values, also those within strings. */
export function hasTooManyValues(json: string): boolean {
  if (json.length <= MOST_VALUES) return false
  let values = 0
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === COMMA || code === BRACKET || code === BRACE) values++
  }
  return values > MOST_VALUES
}

const [COMMA, BRACKET, BRACE] = [0x2c, 0x5b, 0x7b]

const DEEPEST = 200

/**
 * Whether a value is nested too deeply for a journal: `JSON.parse` reads any depth, but `JSON.stringify` overflows the stack.
 *
 * @param levels - How many are allowed. Default 200, far from the end of the stack.
 */
export function isTooDeep(value: unknown, levels = DEEPEST): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((part) => isTooDeep(part, levels - 1))
}
