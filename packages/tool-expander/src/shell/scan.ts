import { problemAt, type ToolProblem, type ToolProblemCode } from '../problems.js'
import { type Reference, readReference } from '../template.js'

/** How the shell reads the text a placeholder stands in. `document` is an unquoted here-document. */
export type Quoting = 'bare' | 'double' | 'single' | 'document'

/** A placeholder in a script, and what is known about its place. */
export interface Found {
  name: string
  raw: boolean
  offset: number
  length: number
  quoting: Quoting
  /** No fixed text stands before it in its word, so its value may become the first character. */
  leads: boolean
  /** Which words with it must not begin with `-`: none, the value alone, or a longer word (`checked_words`). */
  checked?: 'value' | 'word'
}

/** A piece of a shell word: fixed text (quotes removed), a value, or null for what only the shell knows. */
export type Piece = string | Found | null

export interface Word {
  offset: number
  pieces: Piece[]
  /** Holds a quote or a backslash, so it is no reserved word. */
  quoted: boolean
  /** No fixed text yet: the next value may become the word's first character. */
  leads: boolean
  /** Begins with a brace, which bash expands: `{a,${p}}` is two words, and the value begins the second. */
  brace: boolean
  /** How many `${x:-…}` are open. Their text may not appear, so it protects nothing behind them. */
  operands: number
  /** Every placeholder in it, those inside `$( )` too. */
  found: Found[]
}

export interface HereDocument {
  offset: number
  delimiter: string
  stripTabs: boolean
  quoted: boolean
  /** Set when its command runs the text: for whom. */
  interpreter?: string
}

/** One pass over a script. `at` moves forward only. */
export interface Scan {
  readonly text: string
  at: number
  end: number
  readonly found: Found[]
  /** Backslashes the shell would print: before `${name}` in single quotes. Offsets. */
  readonly dropped: number[]
  readonly problems: ToolProblem[]
  /** Problems only for a script that has placeholders. */
  readonly hazards: ToolProblem[]
  /** `${name%.txt}` and the like. */
  readonly expanded: { name: string; offset: number }[]
  readonly checkedWords: Set<string>
  /** For `lintTool`: what is remarkable, and where. */
  readonly remarks: Remark[]
  pending: HereDocument[]
}

export interface Remark {
  kind: 'bash' | 'program' | 'assigned' | 'positional' | 'piped'
  what: string
  offset: number
}

export function startScan(text: string): Scan {
  const lists = { found: [], dropped: [], problems: [], hazards: [], expanded: [], remarks: [], pending: [] }
  return { text, at: 0, end: text.length, checkedWords: new Set(), ...lists }
}

/** The problem that ends a scan: from here on nobody knows where anything stands. */
export class ScanStopped extends Error {
  constructor(readonly problem: ToolProblem) {
    super(problem.message)
  }
}

export function describe(
  scan: Scan,
  offset: number,
  message: string,
  hint: string,
  code: ToolProblemCode,
): ToolProblem {
  return problemAt(offset, scan.text, { code, path: 'shell', message, hint })
}

/** Refuses to go on. Guessing where a placeholder stands is how values become code. */
export function stop(
  scan: Scan,
  offset: number,
  message: string,
  code: ToolProblemCode = 'ERR_SHELL_SYNTAX',
): never {
  throw new ScanStopped(describe(scan, offset, message, STOP_HINT, code))
}

const STOP_HINT = 'Correct the script, move it into a file, or write the tool with command:.'

/** Refuses placeholders whose values would be run or computed. */
export function refuse(scan: Scan, found: readonly Found[], place: string, hint: string): void {
  for (const { name, offset } of found) {
    const message = `\${${name}} stands in ${place}: the value would become code.`
    scan.problems.push(describe(scan, offset, message, hint, 'ERR_SHELL_CODE'))
  }
}

/** Skips text that must hold no placeholder, and refuses those it holds. */
export function skipTo(scan: Scan, end: number, place: string, hint: string): void {
  for (const { reference, offset } of references(scan.text, scan.at, end)) {
    const found = {
      name: reference.name,
      raw: false,
      offset,
      length: 0,
      quoting: 'bare',
      leads: false,
    } as const
    refuse(scan, [found], place, hint)
  }
  scan.at = end
}

/** Every `${name}` in a stretch of text, with the number of backslashes before it. */
export function references(
  text: string,
  start: number,
  end: number,
): { reference: Reference; offset: number; backslashes: number }[] {
  return [...text.slice(start, end).matchAll(/(\\*)\$\{/g)].flatMap((match) => {
    const backslashes = match[1]?.length ?? 0
    const offset = start + match.index + backslashes
    const reference = readReference(text, offset)
    return reference === undefined ? [] : [{ reference, offset, backslashes }]
  })
}

/** The fixed text of a word that is nothing else. */
export function literalOf({ pieces }: Word): string | undefined {
  return pieces.every((piece) => typeof piece === 'string') ? pieces.join('') : undefined
}

/** The fixed text a word begins with. */
export function beginningOf({ pieces }: Word): string {
  return typeof pieces[0] === 'string' ? pieces[0] : ''
}
