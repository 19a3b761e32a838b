type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** The object without its undefined entries, so that YAML and JSON made of it have no empty keys. */
export function defined<T extends object>(object: T): Defined<T> {
  const kept: Partial<T> = {}
  for (const key in object) if (object[key] !== undefined && key !== '__proto__') kept[key] = object[key]
  return kept as unknown as Defined<T>
}
