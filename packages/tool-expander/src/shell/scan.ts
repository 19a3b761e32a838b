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

/** Something `lintTool` asks about: a value inside a program, a variable the script sets, `$1` written by hand. */
export interface Remark {
  kind: 'program' | 'assigned' | 'positional'
  what: string
  offset: number
}

/** One pass over a script. `at` moves forward only. */
export interface Scan {
  readonly text: string
  at: number
  end: number
  readonly found: Found[]
  /** Offsets of backslashes before `${name}` that the shell would print: those in single quotes. */
  readonly dropped: number[]
  readonly problems: ToolProblem[]
  /** Problems only for a script that has placeholders. */
  readonly hazards: ToolProblem[]
  /** `${name%.txt}` and the like. */
  readonly expanded: { name: string; offset: number }[]
  readonly checkedWords: Set<string>
  readonly remarks: Remark[]
  pending: HereDocument[]
}

export function startScan(text: string): Scan {
  const lists = { found: [], dropped: [], problems: [], hazards: [], expanded: [], remarks: [], pending: [] }
  return { text, at: 0, end: text.length, checkedWords: new Set(), ...lists }
}

/** Steps over what a sticky pattern matches here, and returns it; '' when it does not match. */
export function take(scan: Scan, pattern: RegExp): string {
  pattern.lastIndex = scan.at
  const text = scan.at < scan.end ? (pattern.exec(scan.text)?.[0] ?? '') : ''
  scan.at += text.length
  return text
}

/** True when a sticky pattern matches here. */
export function looksAt(scan: Scan, pattern: RegExp): boolean {
  pattern.lastIndex = scan.at
  return scan.at < scan.end && pattern.test(scan.text)
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
  hint = 'Write it another way, or move it into a file.',
  code: ToolProblemCode = 'ERR_SHELL_SYNTAX',
): ToolProblem {
  return problemAt(offset, scan.text, { code, path: 'shell', message, hint })
}

/** Refuses to go on. Guessing where a placeholder stands is how values become code. */
export function stop(scan: Scan, offset: number, message: string, code?: ToolProblemCode): never {
  throw new ScanStopped(describe(scan, offset, message, undefined, code))
}

/** Refuses placeholders whose values would be run or computed. */
export function refuse(
  scan: Scan,
  found: readonly Pick<Found, 'name' | 'offset'>[],
  place: string,
  hint = 'Assign it to a variable before, or hand it over as an argument.',
): void {
  for (const { name, offset } of found) {
    const message = `\${${name}} stands in ${place}: the value would become code.`
    scan.problems.push(describe(scan, offset, message, hint, 'ERR_SHELL_CODE'))
  }
}

/** Skips text that must hold no placeholder, and refuses those it holds. */
export function skipTo(scan: Scan, end: number, place: string, hint?: string): void {
  const inside = references(scan, end)
  refuse(
    scan,
    inside.map(({ name, offset }) => ({ name, offset })),
    place,
    hint,
  )
  scan.at = end
}

/** Every `${name}` from here to an offset, with the number of backslashes before it. */
export function references(
  { text, at }: Scan,
  end: number,
): (Reference & { offset: number; backslashes: number })[] {
  return [...text.slice(at, end).matchAll(/(\\*)\$\{/g)].flatMap((match) => {
    const backslashes = match[1]?.length ?? 0
    const offset = at + match.index + backslashes
    const reference = readReference(text, offset)
    return reference === undefined ? [] : [{ ...reference, offset, backslashes }]
  })
}

/** The fixed text of a word that is nothing else. */
export function literalOf(word: Word | undefined): string | undefined {
  return word?.pieces.every((piece) => typeof piece === 'string') ? word.pieces.join('') : undefined
}

/** The fixed text a word begins with. */
export function beginningOf(word: Word | undefined): string {
  const first = word?.pieces[0]
  return typeof first === 'string' ? first : ''
}
