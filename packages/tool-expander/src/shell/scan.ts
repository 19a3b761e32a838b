import { ENOUGH, problemAt, type Template, type ToolProblem, type ToolProblemCode } from '../problems.js'
import type { CommandWord } from '../programs.js'
import { openings, type Placeholder } from '../template.js'

/** How the shell reads the text a placeholder stands in. Here-documents are a `document`, or `fixed` when quoted. */
export type Quoting = 'bare' | 'double' | 'single' | 'document' | 'fixed'

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
  /** It belongs to a function. */
  inFunction: boolean
  /** Set when its command runs the text: for whom. */
  interpreter?: string
  /** The values in its text. */
  found: readonly Found[]
}

/** What is wrong at an offset. */
type Complaint = [offset: number, code: ToolProblemCode, message: string, hint?: string]

/** One pass over a template. `at` moves forward only. */
export interface Scan extends Template {
  readonly path: 'exec' | 'shell'
  readonly template: string
  /** Parameters whose values are never code. */
  readonly plain: ReadonlySet<string>
  at: number
  end: number
  readonly found: Found[]
  /** What the script is written without: placeholders, and backslashes before literal ones that the shell would print. */
  readonly edits: (Found | { offset: number; length: number })[]
  readonly complaints: Complaint[]
  /** Complaints only about a script that has placeholders. */
  readonly hazards: Complaint[]
  /** `${name%.txt}` and the like by their names, and `$1` as it is written. */
  readonly expanded: { name: string; offset: number }[]
  readonly checkedWords: Set<string>
  /** Simple commands, for `lintTool`. */
  readonly commands: ScannedCommand[]
  pending: HereDocument[]
  /** The first of the values found so far that a pipe may feed to the commands read now; Infinity without a pipe. */
  fedFrom: number
  /** Inside a function, where `$1` is the function's own. */
  inFunction: boolean
  /** Inside `>( … )`, which anything may be written to. */
  inOutput: boolean
}

/** A simple command, with what it may read. */
export interface ScannedCommand {
  assignments: readonly Word[]
  words: readonly Word[]
  /** `<<< word`, and `<( … )` where it is redirected. */
  inputs: readonly Word[]
  /** A pipe may feed the values found from here on to it: places in `found`. */
  fedFrom: number
  /** And before this one. */
  fedTo: number
  documents: readonly HereDocument[]
}

/** Reads a template as far as it goes. */
export function scanTemplate(
  path: Scan['path'],
  template: string,
  plain: ReadonlySet<string>,
  read: (scan: Scan) => void,
): { scan: Scan; problems: ToolProblem[] } {
  const scan: Scan = {
    path,
    template,
    plain,
    at: 0,
    end: template.length,
    found: [],
    edits: [],
    complaints: [],
    hazards: [],
    expanded: [],
    checkedWords: new Set(),
    commands: [],
    pending: [],
    fedFrom: Infinity,
    inFunction: false,
    inOutput: false,
  }
  try {
    read(scan)
  } catch (error) {
    if (error !== STOPPED) throw error
  }
  const complaints = scan.found.length > 0 ? [...scan.complaints, ...scan.hazards] : scan.complaints
  complaints.sort(([a], [b]) => a - b)
  return { scan, problems: complaints.slice(0, ENOUGH).map((complaint) => problemAt(scan, ...complaint)) }
}

const STOPPED = new Error()

/** Steps over what a sticky pattern matches here, and returns it; '' when it does not match. */
export function take(scan: Scan, pattern: RegExp): string {
  const { at } = scan
  if (!looksAt(scan, pattern)) return ''
  scan.at = pattern.lastIndex
  return scan.template.slice(at, scan.at)
}

/** The character that stands here, '' at the end. */
export function next({ template, at, end }: Scan): string {
  return at < end ? template.charAt(at) : ''
}

/** True when a sticky pattern matches here. Its `lastIndex` is then where the match ends. */
export function looksAt({ template, at, end }: Scan, pattern: RegExp): boolean {
  pattern.lastIndex = at
  return at < end && pattern.test(template)
}

export function complain(scan: Scan, ...complaint: Complaint): void {
  scan.complaints.push(complaint)
}

/** Refuses to go on. Guessing where a placeholder stands is how values become code. */
export function stop(scan: Scan, offset: number, what: string): never {
  giveUp(scan, offset, 'ERR_SHELL_SYNTAX', `${what} cannot be followed.`)
}

/** Stops where something is missing that belongs to what began at an offset. */
export function missing(scan: Scan, offset: number, what: string): never {
  giveUp(scan, offset, 'ERR_SHELL_SYNTAX', `${what} is missing.`)
}

/** Stops at what is never closed, which no shell would run either. */
export function unclosed(scan: Scan, offset: number, mark: string): never {
  giveUp(scan, offset, 'ERR_QUOTE', `The closing ${mark} is missing.`)
}

export function giveUp(scan: Scan, ...complaint: Complaint): never {
  const [, code] = complaint
  // Without placeholders nothing can go wrong but an open quote: the script is the shell's business.
  if (code === 'ERR_QUOTE' || openings(scan.template).some(({ name }) => name)) complain(scan, ...complaint)
  throw STOPPED
}

/** Refuses placeholders whose values would be run or computed. */
export function refuse(
  scan: Scan,
  found: readonly { name?: string; offset: number }[],
  place: string,
  hint?: string,
  becomes = 'code',
): void {
  for (const { name, offset } of found) {
    const message = `\${${name}} stands in ${place}: the value would become ${becomes}.`
    if (name && !scan.plain.has(name)) complain(scan, offset, 'ERR_SHELL_CODE', message, hint)
  }
}

/** True for a value that the shell makes several words of. */
export function isSplit({ raw, quoting }: Found): boolean {
  return !!raw && quoting === 'bare'
}

/** Shells read this differently, so nobody knows where a placeholder of this script stands. */
export function disagree(scan: Scan, offset: number, what: string): void {
  scan.hazards.push([offset, 'ERR_SHELL_SYNTAX', `Shells disagree about ${what}.`])
}
