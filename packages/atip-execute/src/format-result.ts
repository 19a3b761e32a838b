import { createResultFilter, DEFAULT_MAX_RESULT_LENGTH, truncate } from '@delta/atip'
import { redactPatterns } from '@delta/executor/internal'
import type { ExecutionResult } from './execute-command.js'

/** What a model gets to read of a result. */
export interface OutputOptions {
  /** The longest `content`, markers included. Default 100000 characters. */
  maxLength?: number | undefined
  /** Default true. */
  redactSecrets?: boolean | undefined
  /** More of them, replaced also when `redactSecrets` is false. */
  redactPatterns?: readonly RegExp[] | undefined
  /** Default true. */
  includeStderr?: boolean | undefined
  /** Default false: a success is its stdout and nothing else. */
  includeExitCode?: boolean | undefined
  /** Makes the text instead of us; it is still redacted and cut. */
  formatter?: ((result: ExecutionResult) => string) | undefined
}

/** A result twice: for the model, and as it was. */
export interface FormattedResult {
  /** For the model. */
  content: string
  /** As `raw.success`: the exit code was 0. False for a call that was refused. */
  success: boolean
  /** As it was, secrets included: not for the model. */
  raw: ExecutionResult
}

/** A partial token shorter than this would not look like one; so much is dropped where output was cut. */
const LONGEST_UNRECOGNIZED = 64

/**
 * Makes of a result what a model reads: for a success stdout (then stderr), for a failure stderr and
 * then stdout, with the markers `[TRUNCATED]`, `[TIMEOUT]` and `[Exit code: N]` where they apply.
 * Secrets become `[REDACTED]` before anything is cut.
 */
export function formatResult(result: ExecutionResult, options: OutputOptions = {}): FormattedResult {
  const {
    maxLength = DEFAULT_MAX_RESULT_LENGTH,
    redactSecrets = true,
    redactPatterns: own = [],
    formatter,
  } = options
  const filter = createResultFilter([], {
    maxLength: Number.POSITIVE_INFINITY,
    redactSecrets,
    redactPatterns: own,
  })
  // the executor's patterns, as everywhere; then those that only this interface has, such as `password=`
  const clean = (text: string) => filter.filter(redactSecrets ? redactPatterns(text) : text, result.toolName)
  const content = formatter
    ? truncate(clean(formatter(result)), maxLength)
    : assemble(result, clean, { ...options, maxLength })
  return { content, success: result.success, raw: result }
}

function _isOutput(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string'
}

function assemble(
  result: ExecutionResult,
  clean: (text: string) => string,
  { maxLength, includeStderr = true, includeExitCode = false }: OutputOptions & { maxLength: number },
): string {
  const part = (text: string | null) =>
    clean(result.truncated ? withoutPartialToken(text ?? '') : (text ?? ''))
  const stdout = part(result.stdout)
  const stderr = includeStderr ? part(result.stderr) : ''
  const markers = [
    result.timedOut ? '[TIMEOUT]' : '',
    includeExitCode ? `[Exit code: ${result.exitCode}]` : '',
  ]
  const cutBefore = joinLines([result.truncated ? '[TRUNCATED]' : '', ...markers])
  const room = Math.max(0, maxLength - cutBefore.length - 2)
  // stderr is usually short and says most; it keeps up to half of the room.
  const shortStderr = truncate(stderr, Math.max(Math.floor(room / 2), room - stdout.length))
  const shortStdout = truncate(stdout, Math.max(0, room - shortStderr.length))
  const cutHere = shortStderr !== stderr || shortStdout !== stdout // and marked where it was cut
  const tail = cutHere ? joinLines(markers) : cutBefore
  const body = result.success ? [shortStdout, shortStderr] : [shortStderr, shortStdout]
  return truncate(joinLines([...body, tail]), maxLength)
}

/** The parts that are not empty, each on a line of its own. */
function joinLines(parts: readonly string[]): string {
  return parts.reduce((text, part) => {
    if (text === '' || part === '') return text + part
    return text.endsWith('\n') ? text + part : `${text}\n${part}`
  }, '')
}

/** Output that was cut may end in the first half of a secret, which no pattern would recognise. */
function withoutPartialToken(text: string): string {
  const end = text.slice(-LONGEST_UNRECOGNIZED)
  return text.slice(0, text.length - (/[^\s]+$/.exec(end)?.[0].length ?? 0))
}
