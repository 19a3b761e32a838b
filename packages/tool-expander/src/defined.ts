type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** The object without its undefined entries, so that YAML and JSON made of it have no empty keys. */
export function defined<T extends object>(object: T): Defined<T> {
  const result = {} as Defined<T> & Partial<T>
  for (const key of Object.keys(object) as (keyof T)[]) {
    // Assigning to __proto__ would not make an entry.
    if (object[key] !== undefined && key !== '__proto__') (result as Partial<T>)[key] = object[key]
  }
  return result
}
