type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** The object without its undefined entries, so that YAML and JSON made of it have no empty keys. */
export function defined<T extends object>(object: T): Defined<T> {
  const entries = Object.entries(object).filter(([key, value]) => value !== undefined && key !== '__proto__')
  return Object.fromEntries(entries) as Defined<T>
}
