/** True for what YAML writes as keys and values. */
export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A place inside a YAML value: keys and list indexes, outermost first. */
export type ValuePath = readonly (string | number)[]

/** Reads `parameters[1].inject_as`, the spelling in which other packages say where a problem is. */
export function parsePath(text: string): ValuePath {
  const segments: (string | number)[] = []
  for (const [, index, key] of text.matchAll(/\[(\d+)\]|([^.[\]]+)/g)) {
    if (index !== undefined) segments.push(Number(index))
    else if (key !== undefined) segments.push(key)
  }
  return segments
}

/** The reverse of `parsePath`. */
export function formatPath(path: ValuePath): string {
  return path.reduce<string>((text, segment) => {
    if (typeof segment === 'number') return `${text}[${segment}]`
    return text === '' ? segment : `${text}.${segment}`
  }, '')
}

/** For a path that was not found and that only a shell would have understood. */
export function tildeHint(path: string): string | undefined {
  return path.startsWith('~') ? 'No shell reads this path: write out what "~" stands for.' : undefined
}
