type CamelCase<Key extends string> = Key extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Key

/**
 * The entries of a mapping that have a value, with keys in camelCase: `allowNetwork` for `allow_network`. Mappings inside
 * stay as they are.
 */
export function inCamelCase<Written extends object>(
  written: Written,
): { [Key in keyof Written & string as CamelCase<Key>]?: Exclude<Written[Key], undefined> } {
  const entries = Object.entries(written).filter(([, value]) => value !== undefined)
  return Object.fromEntries(
    entries.map(([key, value]) => [key.replaceAll(/_(.)/g, (_, letter) => letter.toUpperCase()), value]),
  ) as ReturnType<typeof inCamelCase<Written>>
}
