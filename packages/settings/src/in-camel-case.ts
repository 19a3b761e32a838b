type CamelCase<Key extends string> = Key extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Key

/** A mapping with its keys in camelCase; what may be missing may be missing here. */
type InCamelCase<Written> = {
  [Key in keyof Written as CamelCase<Key & string>]: Exclude<Written[Key], undefined>
}

/**
 * The entries of a mapping that have a value, with keys in camelCase: `allowNetwork` for `allow_network`. Mappings inside
 * stay as they are.
 */
export function inCamelCase<Written extends object>(written: Written): InCamelCase<Written> {
  const entries = Object.entries(written).filter(([, value]) => value !== undefined)
  return Object.fromEntries(
    entries.map(([key, value]) => [key.replaceAll(/_(.)/g, (_, letter) => letter.toUpperCase()), value]),
  ) as InCamelCase<Written>
}
