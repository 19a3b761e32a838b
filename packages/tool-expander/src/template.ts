/** The engine's own variables: never parameters, in no mode. */
export const ENGINE_VARIABLES = ['AGENT_HOME', 'CWD'] as const

export type EngineVariable = (typeof ENGINE_VARIABLES)[number]

export function isEngineVariable(name: string): name is EngineVariable {
  return (ENGINE_VARIABLES as readonly string[]).includes(name)
}

/** A piece of a word: fixed text, or a place for a value. `offset` points into the template. */
export type Part = string | Placeholder

export interface Placeholder {
  name: string
  raw: boolean
  offset: number
}

/** `${name}` or `${name:modifier}`, at one position. */
export interface Reference {
  name: string
  modifier: string | undefined
  length: number
}

/** Reads `${name}` or `${name:modifier}` at an offset; undefined when something else stands there. */
export function readReference(text: string, offset: number): Reference | undefined {
  REFERENCE.lastIndex = offset
  const match = REFERENCE.exec(text)
  if (match?.[1] === undefined) return undefined
  return { name: match[1], modifier: match[2], length: match[0].length }
}

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::([A-Za-z][A-Za-z0-9_]*))?\}/y

/** Joins neighbouring texts and drops empty ones, so that equal words have equal parts. */
export function joinParts(parts: readonly Part[]): Part[] {
  const joined: Part[] = []
  for (const part of parts) {
    const last = joined.at(-1)
    if (typeof part === 'string' && typeof last === 'string') joined[joined.length - 1] = last + part
    else if (part !== '') joined.push(part)
  }
  return joined
}

/**
 * One element of a `command:` with `substitute: true`, in parts.
 *
 * Only a `${` is special. Before it, two backslashes stand for one and an odd one makes the `${` literal.
 * A `${` that is neither escaped nor a placeholder is handed to `refuse`.
 */
export function parseElement(element: string, refuse?: (offset: number) => void): Part[] {
  const parts: Part[] = []
  let end = 0
  for (const match of element.matchAll(/(\\*)\$\{/g)) {
    const backslashes = match[1]?.length ?? 0
    const dollar = match.index + backslashes
    parts.push(element.slice(end, match.index), '\\'.repeat(backslashes >> 1))
    end = dollar
    if (backslashes % 2 === 1) continue
    const reference = readReference(element, dollar)
    if (reference === undefined || reference.modifier !== undefined) refuse?.(dollar)
    else {
      parts.push({ name: reference.name, raw: false, offset: dollar })
      end += reference.length
    }
  }
  return joinParts([...parts, element.slice(end)])
}

/** The inverse of `parseElement`. */
export function writeElement(parts: readonly Part[]): string {
  return parts
    .map((part, index) => {
      if (typeof part !== 'string') return `\${${part.name}}`
      const escaped = part.replace(/(\\*)\$\{/g, '$1$1\\${')
      return index === parts.length - 1 ? escaped : escaped.replace(/\\+$/, '$&$&')
    })
    .join('')
}
