/** What a caller without a type checker may pass by mistake. */
const ODD_VALUES = [
  undefined,
  null,
  7,
  7n,
  Number.NaN,
  true,
  [],
  [null],
  {},
  'a\ud800',
  '\0',
  Symbol('s'),
  () => {},
]

export interface ForeignErrorsOptions {
  /** True for an error of the module's own package. */
  isOwn: (error: unknown) => boolean
  /** Names of functions that would do what they are for. */
  except?: readonly string[]
  /** Values that something takes for a name or a path, and rightly. */
  without?: readonly unknown[]
}

/**
 * Calls every function that a module exports with odd values, one of them in all places. Lists that come are read to
 * their first item.
 *
 * @returns The errors that are not the package's own, each with the function it came from.
 */
export async function foreignErrors(
  module: object,
  { isOwn, except = [], without = [] }: ForeignErrorsOptions,
): Promise<string[]> {
  const found: string[] = []
  for (const [name, given] of Object.entries(module)) {
    const isClass = /^[A-Z]/.test(name)
    if (typeof given !== 'function' || isClass || except.includes(name)) continue
    for (const value of ODD_VALUES.filter((odd) => !without.includes(odd))) {
      const error = await thrownBy(given, value)
      if (error instanceof Error && !isOwn(error)) found.push(`${name}: ${error.stack}`)
    }
  }
  return found
}

async function thrownBy(given: (...args: unknown[]) => unknown, value: unknown): Promise<unknown> {
  try {
    const result = await given(value, value, value)
    if (Object(result)[Symbol.asyncIterator])
      for await (const _item of result as AsyncIterable<unknown>) break
    return undefined
  } catch (error) {
    return error
  }
}
