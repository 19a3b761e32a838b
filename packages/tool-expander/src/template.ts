import type { Template } from './problems.js'

/** The engine's own variables: never parameters, in no mode. */
export const ENGINE_VARIABLES = ['AGENT_HOME', 'CWD', 'TOOL_HOME'] as const

export type EngineVariable = (typeof ENGINE_VARIABLES)[number]

export function isEngineVariable(name: string): name is EngineVariable {
  return ENGINE_VARIABLES.some((variable) => variable === name)
}

/** One of them in a text where backslashes mean nothing. */
export const WRITTEN_VARIABLE = /\$\{(AGENT_HOME|CWD|TOOL_HOME)\}/g

/** How the shell reads the text a placeholder stands in. Here-documents are a `document`, or `fixed` when quoted. */
export type Quoting = 'bare' | 'double' | 'single' | 'document' | 'fixed'

/** A place for a value. `offset` points into the template. */
export interface Placeholder {
  name: string
  offset: number
  raw?: boolean
  /** In a script: how the shell reads the text around it. */
  quoting?: Quoting
  /** No fixed text stands before it in its word, so its value may become the first character. */
  leads?: boolean
  /** It is a whole word of `exec:` or `command:`. */
  alone?: boolean
  /** Which words with it must not begin with `-`: none, the value alone, or a longer word. */
  checked?: 'value' | 'word'
}

/** A piece of an argument: fixed text, or a place for a value. */
export type Part = string | Placeholder

/** The pieces of a word; null is what only a shell knows. */
export type Pieces = readonly (Part | null)[]

/** A word of a command, in a script or in an argument vector. */
export interface Word extends Template {
  /** Where it begins in the template. */
  offset: number
  /** Fixed text is without its quotes. */
  pieces: (Part | null)[]
  /** Its pieces as `shapeOf` gives them. */
  shape: string
  /** Every placeholder in it, those inside `$( )` too. */
  found: Placeholder[]
  /** Holds a quote or a backslash, so it is not a reserved word. */
  quoted: boolean
  /**
   * Whether the next value may become the first character of a word: while there is no fixed text (`open`), not behind fixed
   * text (`fixed`), and anywhere in what begins with a `brace`, which bash expands: in `{a,${p}}` the value begins the second word.
   */
  beginning: 'open' | 'fixed' | 'brace'
  /** How many `${x:-…}` are open. Their text may not appear, so it protects nothing behind them. */
  operands: number
}

/** A word with its pieces; one that is still to be read has none. */
export function wordOf({ template, path }: Template, offset: number, pieces: Word['pieces'] = []): Word {
  const shape = shapeOf(pieces)
  return {
    template,
    path,
    offset,
    pieces,
    shape,
    found: [],
    quoted: false,
    beginning: 'open',
    operands: 0,
  }
}

/** A word as text, with a NUL for each piece that is not fixed. */
export function shapeOf(pieces: Pieces): string {
  return pieces.map((piece) => (typeof piece === 'string' ? piece : '\0')).join('')
}

export function isParameter(piece: Part | null | undefined): piece is Placeholder {
  return typeof piece === 'object' && piece !== null && !isEngineVariable(piece.name)
}

/** A word that is one parameter and nothing else. */
export function isWholeParameter(pieces: Pieces): pieces is [Placeholder] {
  return pieces.length === 1 && isParameter(pieces[0])
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

/** A `${`, the number of backslashes before it, and the placeholder it begins; `name` is empty if it begins none. */
export interface Opening extends Reference {
  offset: number
  backslashes: number
}

/** Every `${` between two offsets. */
export function openings(text: string, start = 0, end?: number): Opening[] {
  return [...text.slice(start, end).matchAll(/(?<!\\)\\*\$\{/g)].map(({ 0: written, index }) => {
    const backslashes = written.length - 2
    const offset = start + index + backslashes
    const reference = readReference(text, offset) ?? { name: '', modifier: undefined, length: 0 }
    return { ...reference, offset, backslashes }
  })
}

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
      parts.push(...piecesOf(text), { name, offset, leads })
      leads &&= !isEngineVariable(name)
      text = ''
      end += length
    }
  }
  return [...parts, ...piecesOf(text + element.slice(end))]
}

/** Fixed text as the pieces of a word: an empty one has no pieces. */
export function piecesOf(text: string): string[] {
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
