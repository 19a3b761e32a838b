/** A value that differs between two settings, by its path. */
export interface ChangedValue {
  path: string
  left: string | null
  right: string | null
}

/** Compares two values of JSON. Lists whose elements have names are compared by name. */
export function changedValues(
  left: unknown,
  right: unknown,
  equal: (text: string) => string,
  path = '',
): ChangedValue[] {
  const fields = [fieldsOf(left), fieldsOf(right)]
  const isAdded = (left === undefined || right === undefined) && fields.some((each) => each !== undefined)
  const [one, other] = isAdded ? fields.map((each) => each ?? {}) : fields
  if (one === undefined || other === undefined) {
    const [a, b] = [left, right].map((value) => (value === undefined ? null : equal(shown(value))))
    return a === b ? [] : [{ path, left: a ?? null, right: b ?? null }]
  }
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].flatMap((name) =>
    changedValues(one[name], other[name], equal, path === '' ? name : `${path}.${name}`),
  )
}

/** The members of a mapping, or of a list of mappings, by their names if they have some; undefined for anything else. */
function fieldsOf(value: unknown): Record<string, unknown> | undefined {
  if (!Array.isArray(value)) return value === Object(value) ? (value as Record<string, unknown>) : undefined
  if (value.length === 0 || !value.every((element) => element === Object(element))) return undefined
  const nameOf = ({ function: own, name, id, match }: Record<string, unknown>, index: number) =>
    String(Object(own).name ?? name ?? id ?? match ?? index)
  return Object.fromEntries(
    value.map((element, index) => [nameOf(element, index), element.function ?? element]),
  )
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
