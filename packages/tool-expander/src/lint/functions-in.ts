import { countUpTo } from './count-up-to.js'

const DEFINITION = /(?<![^\s;&|({])(?:function\s+([\w:.-]+)\s*(?:\(\))?|([\w:.-]+)\s*\(\))/g

/** The functions of a script, in which `$1` is their own. */
export interface Functions {
  names: ReadonlySet<string>
  /** The function a place belongs to. */
  at: (offset: number) => string | undefined
}

/** A guess from the text alone. One whose end is not found ends where the next one begins. */
export function functionsIn(template: string): Functions {
  const found = [...template.matchAll(DEFINITION)]
  const names = found.map(([, named, plain = '']) => named ?? plain)
  const starts = found.map(({ index }) => index)
  const ends = found.map(({ 0: { length }, index }, at) =>
    endOfBody(template, index + length, starts[at + 1] ?? template.length),
  )
  const at = (offset: number) => {
    const position = countUpTo(starts, offset) - 1
    return offset < (ends[position] ?? 0) ? names[position] : undefined
  }
  return { names: new Set(names), at }
}

const QUOTED_OR_BRACKET = /'[^']*'|"(?:\\.|[^"\\])*"|\\.|[{}()]/gs

function endOfBody(template: string, start: number, limit: number): number {
  let opening = ''
  let depth = 0
  QUOTED_OR_BRACKET.lastIndex = start
  for (;;) {
    const match = QUOTED_OR_BRACKET.exec(template)
    if (match === null || match.index >= limit) return limit
    const [mark] = match
    opening ||= mark
    if (mark === opening) depth += 1
    else if (mark === (opening === '{' ? '}' : ')')) depth -= 1
    if (depth === 0) return match.index
  }
}
