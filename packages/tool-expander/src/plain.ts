/** What is known of a parameter before its template is read. */
export interface KnownParameter {
  name: string
  type?: string | undefined
  enum?: readonly (string | number)[] | undefined
}

/** The names of parameters whose values are never code: whole numbers, and words of an `enum` that only have letters and digits. */
export function plainNames(parameters: readonly KnownParameter[] = []): ReadonlySet<string> {
  return new Set(parameters.filter(isPlain).map(({ name }) => name))
}

function isPlain({ type, enum: words }: KnownParameter): boolean {
  return type === 'integer' || words?.every((word) => /^[\w.-]+$/.test(String(word))) === true
}
