/** The engine's own variables: never parameters, in no mode. */
export type EngineVariable = 'AGENT_HOME' | 'CWD'

export function isEngineVariable(name: string): name is EngineVariable {
  return name === 'AGENT_HOME' || name === 'CWD'
}

/** A piece of a word: fixed text, or a place for a value. `offset` points into the template. */
export type Part = string | Placeholder

export interface Placeholder {
  name: string
  offset: number
  raw?: boolean
  /** No fixed text stands before it in its word, so its value may become the first character. */
  leads?: boolean
  /** It is a whole word of `exec:` or `command:`. */
  alone?: boolean
  /** Which words with it must not begin with `-`: none, the value alone, or a longer word. */
  checked?: 'value' | 'word'
}

export function isParameter(part: Part | null | undefined): part is Placeholder {
  return typeof part === 'object' && part !== null && !isEngineVariable(part.name)
}

/** A word that is one parameter and nothing else. */
export function isWholeParameter(parts: readonly (Part | null)[]): parts is [Placeholder] {
  return parts.length === 1 && isParameter(parts[0])
}

/** `${name}` or `${name:modifier}`, at one position. */
export interface Reference {
  name: string
  modifier: string | undefined
  length: number
}

/** Reads `${name}` or `${name:modifier}` at an offset; null when something else stands there. */
export function readReference(text: string, offset: number): Reference | null {
  const match = matchAt(REFERENCE, text, offset)
  return match && { name: match[1] ?? '', modifier: match[2], length: match[0].length }
}

const REFERENCE = /\$\{([A-Za-z_]\w*)(?::([A-Za-z]\w*))?\}/y

/** What a sticky pattern matches at an offset, and its groups. */
export function matchAt(pattern: RegExp, text: string, offset: number): RegExpExecArray | null {
  pattern.lastIndex = offset
  return pattern.exec(text)
}

/** Every match of a global pattern. `matchAll` would copy the pattern first. */
export function matches(pattern: RegExp, text: string): RegExpExecArray[] {
  const all: RegExpExecArray[] = []
  for (let match = matchAt(pattern, text, 0); match; match = pattern.exec(text)) all.push(match)
  return all
}

/** A `${`, the number of backslashes before it, and the placeholder it begins, if any: `name` is empty otherwise. */
export interface Opening extends Reference {
  offset: number
  backslashes: number
}

/** Every `${` between two offsets. */
export function openings(text: string, start = 0, end?: number): Opening[] {
  return matches(OPENING, text.slice(start, end)).map(({ 0: { length }, index }) => {
    const offset = start + index + length - 2
    // Every field by name: spreading costs more than all the rest of binding a call.
    const { name = '', modifier, length: written = 0 }: Partial<Reference> = readReference(text, offset) ?? {}
    return { offset, backslashes: length - 2, name, modifier, length: written }
  })
}

const OPENING = /(?<!\\)\\*\$\{/g

/**
 * One element of a `command:` with `substitute: true`, in parts.
 *
 * Only a `${` is special. Before it, two backslashes stand for one and an odd one makes the `${` literal.
 * A `${` that is neither escaped nor a placeholder is handed to `refuse`.
 */
export function parseElement(element: string, refuse?: (opening: Opening) => void): Part[] {
  const parts: Part[] = []
  let text = ''
  let end = 0
  let leads = true
  for (const opening of openings(element)) {
    const { offset, backslashes, name, modifier, length } = opening
    text += element.slice(end, offset - backslashes) + '\\'.repeat(backslashes >> 1)
    end = offset
    if (backslashes % 2) continue
    if (!name || modifier) refuse?.(opening)
    else {
      leads &&= !text
      parts.push(...textOf(text), { name, offset, leads })
      leads &&= !isEngineVariable(name)
      text = ''
      end += length
    }
  }
  return [...parts, ...textOf(text + element.slice(end))]
}

/** A text as the pieces of a word: an empty one is none. */
export function textOf(text: string): string[] {
  return text ? [text] : []
}

/** The inverse of `parseElement`. */
export function writeElement(parts: readonly Part[]): string {
  return parts
    .map((part, index) => {
      if (typeof part !== 'string') return writePart(part)
      const escaped = part.replace(/(?<!\\)(\\*)\$\{/g, '$1$1\\${')
      return index === parts.length - 1 ? escaped : escaped.replace(/(?<!\\)\\+$/, '$&$&')
    })
    .join('')
}

/** A piece as it is written where backslashes mean nothing. */
export function writePart(part: Part): string {
  return typeof part === 'string' ? part : `\${${part.name}}`
}
