import { showControls } from '@delta/executor/internal'
import { columnsOf } from './columns.js'

/** What went wrong as a whole; the problems say where. */
export type ConfigErrorCode =
  | 'ERR_CONFIG_INVALID' // a file was found, and something in it is wrong
  | 'ERR_CONFIG_NOT_FOUND' // no agent there
  | 'ERR_CONFIG_CONTEXT_MISSING' // the only problem is that there is no context.yaml
  | 'ERR_CONFIG_ENVIRONMENT' // an .env file cannot be read, or is not trusted

/** One thing that is wrong, and where. Lines and columns count from 1. */
export interface ConfigProblem {
  /**
   * The file, spelled as the caller spelled the agent's directory. Empty if the message names what is missing. Without a line
   * also `--set path=value`, for a value of the option `overrides`.
   */
  file: string
  /** Absent for a problem of the whole file. */
  line?: number
  column?: number
  /** What is wrong, as a sentence without its place. */
  message: string
  /** The line at fault with a caret under the place, two lines of text. */
  excerpt?: string
  /** What to do about it. */
  hint?: string | undefined
  /** The option that allows it, for a person who trusts the file; `value` is what to add to a list. */
  allowedBy?: { option: 'trustWorkspaceEnv' } | { option: 'importRoots'; value: string }
  /** What the error is if this is its only problem. Default: `ERR_CONFIG_INVALID`. */
  code?: ConfigErrorCode
  /** The directory in which there is no agent, as it is shown. */
  noAgentIn?: string
}

/** Something that works, but probably not as intended, or not for much longer. */
export interface ConfigWarning extends ConfigProblem {
  /** True if the message begins with `[DEPRECATION WARNING]`. */
  deprecated: boolean
}

/** A configuration that cannot be used. `message` is the whole report, ready to print; `problems` are its parts. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly code: ConfigErrorCode
  /** In the order of the report. */
  readonly problems: readonly ConfigProblem[]
  /** Warnings found before the error. */
  readonly warnings: readonly ConfigWarning[]

  constructor(
    code: ConfigErrorCode,
    message: string,
    options: {
      problems?: readonly ConfigProblem[]
      warnings?: readonly ConfigWarning[]
      cause?: unknown
    } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    this.problems = options.problems ?? []
    this.warnings = options.warnings ?? []
  }
}

/**
 * True for a `ConfigError`, also for one from another installed copy of this package.
 *
 * @example
 * if (isConfigError(error)) console.error(error.message)
 */
export function isConfigError(error: unknown): error is ConfigError {
  return error instanceof Error && error.name === 'ConfigError' && 'code' in error && 'problems' in error
}

/** Where something was found: a place in a file, or a file. */
export type Finding = Omit<ConfigProblem, 'message' | 'hint'>

/** Prefix of a `file` that is not a file. */
export const SET_FLAG = '--set '

/** True for the place of a value that the option `overrides` set. */
export function isSet({ file }: Finding): boolean {
  return file.startsWith(SET_FLAG)
}

/** Collects the problems of all files of an agent, so that one run reports all of them. */
export interface Findings {
  readonly problems: ConfigProblem[]
  readonly warnings: ConfigWarning[]
  error(place: Finding, message: string, hint?: string): void
  warn(place: Finding, message: string, hint?: string): void
  /** An old spelling that still works. */
  deprecated(place: Finding, message: string, hint?: string): void
  /** An unknown key: a warning; an error with `strict`, and if an override set it. See `report` for mistyped ones. */
  unknownKey(place: Finding, message: string, hint?: string): void
}

/** File by file, in the order of their first problems, and each file from its top to its end. */
export function inReadingOrder<T extends ConfigProblem>(found: readonly T[]): T[] {
  const files = [...new Set(found.map(({ file }) => file))]
  return found.toSorted(
    (one, other) =>
      files.indexOf(one.file) - files.indexOf(other.file) ||
      (one.line ?? 0) - (other.line ?? 0) ||
      (one.column ?? 0) - (other.column ?? 0),
  )
}

export function collectFindings({ strict = false }: { strict?: boolean | undefined } = {}): Findings {
  const problems: ConfigProblem[] = []
  const warnings: ConfigWarning[] = []
  const warning = (deprecated: boolean, mark: string) => (place: Finding, message: string, hint?: string) => {
    warnings.push({ ...place, message: `${mark}${message}`, hint, deprecated })
  }
  const error: Findings['error'] = (place, message, hint) => {
    problems.push({ ...place, message, hint })
  }
  const warn = warning(false, '')
  const unknownKey: Findings['unknownKey'] = (place, ...said) =>
    (strict || isSet(place) ? error : warn)(place, ...said)
  return { problems, warnings, error, warn, deprecated: warning(true, '[DEPRECATION WARNING] '), unknownKey }
}

const MAX_EXCERPT_WIDTH = 120
/** A key that sounds like a secret. */
const SECRET_KEY =
  /(?:api[_-]?key(?:_env)?|(?<![\w-])key|(?<![a-z\d])(?:token|secret|password|passwd|authorization|credentials?))["']?\s*:/
/** What stands before a secret: such a key, headers in one line, a login or a parameter in an address. */
const BEFORE_SECRET = new RegExp(
  `(?:${SECRET_KEY.source}|(?<![\\w-])(?:(?:extra|default)_)?headers["']?\\s*:|://(?=[^/\\s]*@)|[?&][\\w-]*(?:key|token|secret)[\\w-]*=)\\s*`,
  'gi',
)
/** What may be shown behind such a key: a placeholder, the name of a variable, a number of tokens. */
const NO_SECRET = [
  /^[^:=]+[:=]\s*["']?(?:\w+\s+)?\$(?:\{|[A-Z_][A-Z\d_]*(?![\w-]))/,
  /^api_key_env["']?\s*:\s*["']?[A-Z_][A-Z\d_]*(?![\w-])/,
  /^token["']?\s*:\s*\d+\s*(?:$|[,}#])/,
]
/** A key whose value stands on the lines below it, as a block or not. */
const BARE_SECRET = new RegExp(`${SECRET_KEY.source}\\s*[|>]?[-+\\d]*\\s*(?:#.*)?$`, 'i')

/**
 * One problem as text: `file:line:column: message`, the line with a caret, and what to do. Unknown parts are left out.
 *
 * The result has no newline at its end and no control characters but newlines, even if the message quotes a file.
 */
export function formatProblem(problem: ConfigProblem): string {
  const lines = [`${formatPlace(problem)}${showControls(problem.message)}`]
  if (problem.excerpt !== undefined) lines.push(problem.excerpt)
  if (problem.hint) lines.push(showControls(problem.hint))
  return lines.join('\n')
}

/**
 * All problems as text, separated by blank lines, with their number if there are several; then the warnings, because a
 * mistyped name is often the reason why something is missing.
 *
 * @example
 * for (const warning of warnings) console.warn(formatReport([warning]))
 */
export function formatReport(
  problems: readonly ConfigProblem[],
  warnings: readonly ConfigProblem[] = [],
): string {
  const blocks = problems.map(formatProblem)
  if (problems.length > 1) blocks.push(`${problems.length} problems.`)
  if (warnings.length > 0) blocks.push('Warnings:', ...warnings.map(formatProblem))
  return blocks.join('\n\n')
}

/** The beginning of a line, up to the first secret in it. */
export function withoutSecrets(line: string): string {
  for (const { 0: before, index } of line.matchAll(BEFORE_SECRET)) {
    const start = index + before.length
    const isSecret = start < line.length && !NO_SECRET.some((each) => each.test(line.slice(index)))
    if (isSecret) return `${line.slice(0, start)}…`
  }
  return line
}

/**
 * The line and a caret under the column, both indented by two.
 *
 * The line loses its indentation and its secrets, because excerpts get into logs, and a long line is cut around the column. Control
 * characters become blanks, so that a file cannot move the cursor of a terminal.
 */
export function excerptOf(line: string, wantedColumn: number): string {
  const visible = withoutSecrets(line.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ').trimEnd())
  const column = Math.min(wantedColumn, visible.endsWith('…') ? visible.length : wantedColumn)
  const indentation = Math.min(visible.length - visible.trimStart().length, column - 1)
  const start = Math.max(indentation, column - MAX_EXCERPT_WIDTH / 2)
  const end = start + MAX_EXCERPT_WIDTH

  const before = start > indentation ? '…' : ''
  const after = end < visible.length ? '…' : ''
  const caret = ' '.repeat(2 + before.length + columnsOf(visible.slice(start, column - 1)))
  return `  ${before}${visible.slice(start, end)}${after}\n${caret}^`
}

/** How many characters above a line its key is looked for: more than a private key has. */
const MAX_KEY_DISTANCE = 4000

/**
 * True if a line is, or may be, the value of a secret whose name stands on a line above it.
 *
 * @param before - The text above the line, which need not be valid YAML.
 */
export function isBelowSecret(before: string): boolean {
  const lines = before.slice(-MAX_KEY_DISTANCE).split('\n')
  return BARE_SECRET.test(lines.findLast((line) => /^[^#]*:(?:\s|$)/.test(line)) ?? '')
}

function formatPlace({ file, line, column }: ConfigProblem): string {
  if (file === '') return ''
  if (line === undefined) return `${file}: `
  return column === undefined ? `${file}:${line}: ` : `${file}:${line}:${column}: `
}

const SECRET_NAME = /(^|[_-])(api_?key|(?<!max_)token|secret|password|passwd|authorization|credentials?)$/i

/** Replaces strings and numbers under names that say they are secret. */
export function maskSecrets(value: unknown, name = ''): unknown {
  if (typeof value === 'string' || typeof value === 'number') return SECRET_NAME.test(name) ? '***' : value
  if (Array.isArray(value)) return value.map((item) => maskSecrets(item, name))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskSecrets(item, key)]))
}
