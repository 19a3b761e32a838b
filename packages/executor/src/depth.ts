const DEEPEST = 200

/**
 * Whether a value is nested so deeply that it cannot be written into a journal: `JSON.parse` reads any depth, but
 * `JSON.stringify` overflows the stack.
 */
export function isTooDeep(value: unknown, levels = DEEPEST): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((part) => isTooDeep(part, levels - 1))
}
