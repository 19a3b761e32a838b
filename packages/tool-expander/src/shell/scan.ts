import type { CommandWord } from '../command-words.js'
import {
  isToolExpansionError,
  problemAt,
  type Template,
  ToolExpansionError,
  type ToolProblem,
  type ToolProblemCode,
} from '../problems.js'
import { matchAt, openings, type Placeholder } from '../template.js'

/** How the shell reads the text a placeholder stands in. `document` is an unquoted here-document. */
export type Quoting = 'bare' | 'double' | 'single' | 'document'

/** A placeholder in a script, and what is known about its place. */
export interface Found extends Placeholder {
  length: number
  quoting: Quoting
}

export interface Word extends CommandWord {
  offset: number
  /** Fixed text is without its quotes. */
  pieces: (string | Found | null)[]
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
  /** The values in its text. */
  found: readonly Found[]
}

/** One pass over a template. `at` moves forward only. */
export interface Scan extends Template {
  readonly path: 'exec' | 'shell'
  readonly template: string
  at: number
  end: number
  readonly found: Found[]
  /** Backslashes before `${name}` that the shell would print: those in single quotes. */
  readonly dropped: { offset: number; length: number }[]
  readonly problems: ToolProblem[]
  /** Problems only for a script that has placeholders. */
  readonly hazards: ToolProblem[]
  /** `${name%.txt}` and the like by their names, and `$1` as it is written. */
  readonly expanded: { name: string; offset: number }[]
  readonly checkedWords: Set<string>
  /** Variables the script sets itself, and its simple commands: for `lintTool`. */
  readonly assigned: { name: string; offset: number }[]
  readonly commands: ScannedCommand[]
  pending: HereDocument[]
  /** The first of the values found so far that a pipe may feed to the commands read now; Infinity without a pipe. */
  fedFrom: number
  /** Inside a function, where `$1` is the function's own. */
  inFunction: boolean
}

/** A simple command, for `lintTool`: without its assignments, with what it may read. */
export interface ScannedCommand {
  words: readonly Word[]
  /** A pipe may feed values to it. */
  isFed: boolean
  documents: readonly HereDocument[]
}

export function startScan(template: string, path: Scan['path'] = 'shell'): Scan {
  const problems = { problems: [], hazards: [] }
  const places = { found: [], dropped: [], expanded: [], assigned: [], commands: [], pending: [] }
  const context = { fedFrom: Infinity, inFunction: false }
  return {
    path,
    template,
    at: 0,
    end: template.length,
    checkedWords: new Set(),
    ...problems,
    ...places,
    ...context,
  }
}

/** Steps over what a sticky pattern matches here, and returns it; '' when it does not match. */
export function take(scan: Scan, pattern: RegExp): string {
  const [text = ''] = scan.at < scan.end ? matchAt(pattern, scan.template, scan.at) : []
  scan.at += text.length
  return text
}

/** True when a sticky pattern matches here. */
export function looksAt(scan: Scan, pattern: RegExp): boolean {
  return scan.at < scan.end && matchAt(pattern, scan.template, scan.at).length > 0
}

/** Adds a problem; `list` is `hazards` for what does no harm without placeholders. */
export function complain(
  scan: Scan,
  offset: number,
  code: ToolProblemCode,
  message: string,
  hint?: string,
  list: 'problems' | 'hazards' = 'problems',
): void {
  scan[list].push(problemAt(offset, scan, code, message, hint))
}

/** Refuses to go on. Guessing where a placeholder stands is how values become code. */
export function stop(
  scan: Scan,
  offset: number,
  message: string,
  code: ToolProblemCode = 'ERR_SHELL_SYNTAX',
): never {
  throw new ToolExpansionError([problemAt(offset, scan, code, message)])
}

/** Reads as far as it goes, and puts the problems in order. */
export function whileReading(scan: Scan, read: () => void): void {
  try {
    read()
  } catch (error) {
    if (!isToolExpansionError(error)) throw error
    // Without placeholders nothing can go wrong but an open quote: the script is the shell's business.
    if (error.code === 'ERR_QUOTE' || references({ ...scan, at: 0 }, scan.end).length > 0)
      scan.problems.push(...error.problems)
  }
  if (scan.found.length > 0) scan.problems.push(...scan.hazards)
  scan.problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))
}

/** Steps over what must stand here. */
export function need(scan: Scan, pattern: RegExp, what: string): void {
  if (!take(scan, pattern)) stop(scan, scan.at, `${what} is missing here.`)
}

/** Stops at an open quote, which no shell would run either. */
export function neverClosed(scan: Scan, offset: number, what: string): never {
  stop(scan, offset, `This ${what} is never closed.`, 'ERR_QUOTE')
}

/** Refuses placeholders whose values would be run or computed. */
export function refuse(scan: Scan, found: readonly Placeholder[], place: string, hint?: string): void {
  for (const { name, offset } of found) {
    const message = `\${${name}} stands in ${place}: the value would become code.`
    complain(scan, offset, 'ERR_SHELL_CODE', message, hint)
  }
}

/** A problem for every value of the script, wherever it stands. */
export function hazard(
  scan: Scan,
  word: Word | undefined,
  message: string,
  code: ToolProblemCode = 'ERR_SHELL_CODE',
  hint?: string,
): void {
  complain(scan, word?.offset ?? 0, code, `${message}.`, hint, 'hazards')
}

/** Shells read this differently, so nobody knows where a placeholder of this script stands. */
export function disagree(scan: Scan, offset: number, what: string): void {
  complain(scan, offset, 'ERR_SHELL_SYNTAX', `Shells disagree about ${what}.`, undefined, 'hazards')
}

/** Every `${name}` from here to an offset where the shell expands nothing; a backslash before one is dropped. */
export function escapable(scan: Scan, end: number): (Placeholder & { isEscaped: boolean })[] {
  return references(scan, end).map(({ name, offset, backslashes }) => {
    const isEscaped = backslashes % 2 === 1
    if (isEscaped) scan.dropped.push({ offset: offset - 1, length: 1 })
    return { name, offset, isEscaped }
  })
}

/** Every `${name}` from here to an offset, with the number of backslashes before it. */
export function references({ template, at }: Scan, end: number): (Placeholder & { backslashes: number })[] {
  return openings(template, at, end).flatMap(({ reference, ...place }) =>
    reference ? { name: reference.name, ...place } : [],
  )
}
