/** What is wrong with a value, and where in it. */
export interface Fault {
  /** From the value that was checked down to the one at fault. */
  path: string[]
  /** How the sentence goes on after the name of the place: `must be a text`. */
  message: string
  value: unknown
}

/** Returns the first fault, or undefined. Allocates nothing for a value without one. */
export type Check = (value: unknown) => Fault | undefined

/** The members a type names, without those its index signature allows. */
type Named<T> = keyof { [K in keyof T as string extends K ? never : number extends K ? never : K]: T[K] }

export const text: Check = (value) => (typeof value === 'string' ? undefined : fault(value, 'a text'))

export const flag: Check = (value) => (typeof value === 'boolean' ? undefined : fault(value, 'true or false'))

export const anything: Check = () => undefined

/** @param what - How the sentence goes on after "must be". */
export function matching(pattern: RegExp, what: string): Check {
  return (value) => (typeof value === 'string' && pattern.test(value) ? undefined : fault(value, what))
}

export function oneOf(...values: string[]): Check {
  const known = new Set<unknown>(values)
  const what = `one of ${values.map((value) => `"${value}"`).join(', ')}`
  return (value) => (known.has(value) ? undefined : fault(value, what))
}

export function optional(check: Check): Check {
  return (value) => (value === undefined ? undefined : check(value))
}

export function listOf(item: Check, { empty = true } = {}): Check {
  return (value) => {
    if (!Array.isArray(value)) return fault(value, 'a list')
    if (value.length === 0 && !empty) return fault(value, 'a list that is not empty')
    for (let index = 0; index < value.length; index++) {
      const found = item(value[index])
      if (found) return under(String(index), found)
    }
    return undefined
  }
}

/** An object of which the named members are checked, and any others are allowed. */
export function objectOf<T extends object>(members: Record<Named<T>, Check>): Check {
  const names = Object.keys(members)
  const checks = Object.values<Check>(members)
  return (value) => {
    if (!isObject(value)) return fault(value, 'an object')
    for (let index = 0; index < names.length; index++) {
      const name = names[index] as string
      const found = (checks[index] as Check)(value[name])
      if (found) return under(name, found)
    }
    return undefined
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function under(name: string, { path, ...rest }: Fault): Fault {
  return { path: [name, ...path], ...rest }
}

export function fault(value: unknown, what: string): Fault {
  return { path: [], message: `must be ${what}, ${shown(value)}`, value }
}

function shown(value: unknown): string {
  if (value === undefined) return 'and is missing'
  if (Array.isArray(value)) return value.length === 0 ? 'not an empty list' : 'not a list'
  if (typeof value === 'object' && value !== null) return 'not an object'
  const json = typeof value === 'bigint' ? `${value}n` : (JSON.stringify(value) ?? typeof value)
  return `not ${json.length > 60 ? `${json.slice(0, 60)}…` : json}`
}
