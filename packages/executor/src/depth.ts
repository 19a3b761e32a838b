const DEEPEST = 200

/**
 * Whether a value is nested so deeply that it cannot be written into a journal: `JSON.parse` reads any depth, but
 * `JSON.stringify` overflows the stack.
 *
 * @param levels - How many are written. Default 200, far from where the stack ends.
 */
export function isTooDeep(value: unknown, levels = DEEPEST): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((part) => isTooDeep(part, levels - 1))
}
