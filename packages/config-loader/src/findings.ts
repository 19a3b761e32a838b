import type { ConfigProblem, ConfigWarning } from './errors.js'

/** Where something was found: a place in a file, or only a file. */
export type Finding = Omit<ConfigProblem, 'message' | 'hint'>

/** How places begin that are not in a file. */
export const SET_FLAG = '--set '

/** True for what the option `overrides` set. */
export function isSet({ file }: Finding): boolean {
  return file.startsWith(SET_FLAG)
}

/** Collects what is wrong with all files of an agent, so that one run reports everything. */
export interface Findings {
  readonly problems: ConfigProblem[]
  readonly warnings: ConfigWarning[]
  error(place: Finding, message: string, hint?: string): void
  warn(place: Finding, message: string, hint?: string): void
  /** An old spelling that still works. */
  deprecated(place: Finding, message: string, hint?: string): void
  /** A key nobody reads: a warning; an error with `strict`, and where it was set for this run. */
  unknownKey(place: Finding, message: string, hint?: string): void
}

/** File by file, in the order the files were met, and in each from its top to its end. */
export function inReadingOrder<T extends ConfigProblem>(found: readonly T[]): T[] {
  const files = [...new Set(found.map(({ file }) => file))]
  const rank = new Map(files.map((file, index) => [file, index]))
  return [...found].sort(
    (one, other) =>
      (rank.get(one.file) ?? 0) - (rank.get(other.file) ?? 0) ||
      (one.line ?? 0) - (other.line ?? 0) ||
      (one.column ?? 0) - (other.column ?? 0),
  )
}

/** How much has been found so far. */
export function countOf({ problems, warnings }: Findings): number {
  return problems.length + warnings.length
}

export function collectFindings({ strict = false }: { strict?: boolean | undefined } = {}): Findings {
  const problems: ConfigProblem[] = []
  const warnings: ConfigWarning[] = []

  const error: Findings['error'] = (place, message, hint) => {
    problems.push({ ...place, message, ...(hint === undefined ? {} : { hint }) })
  }
  const warn: Findings['warn'] = (place, message, hint) => {
    warnings.push({ ...place, message, ...(hint === undefined ? {} : { hint }), deprecated: false })
  }
  const deprecated: Findings['deprecated'] = (place, message, hint) => {
    const marked = `[DEPRECATION WARNING] ${message}`
    warnings.push({ ...place, message: marked, ...(hint === undefined ? {} : { hint }), deprecated: true })
  }
  const unknownKey: Findings['unknownKey'] = (place, ...said) =>
    (strict || isSet(place) ? error : warn)(place, ...said)
  return { problems, warnings, error, warn, deprecated, unknownKey }
}
