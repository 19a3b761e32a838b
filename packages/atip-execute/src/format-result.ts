import { createResultFilter, DEFAULT_MAX_RESULT_LENGTH } from '@delta/atip'
import { truncate } from '@delta/atip/internal'
import type { ExecutionResult } from './execute-command.js'

/** What a model reads of a result. */
export interface OutputOptions {
  /** The longest `content`, markers included. Default 100000 characters. */
  maxLength?: number | undefined
  /** Default true. */
  redactSecrets?: boolean | undefined
  /** More patterns, applied also when `redactSecrets` is false. */
  redactPatterns?: readonly RegExp[] | undefined
  /** Default true. */
  includeStderr?: boolean | undefined
  /** Whether `[Exit code: N]` is added. Default: to a failure only, unless `[TIMEOUT]` says it. */
  includeExitCode?: boolean | undefined
  /** Makes the text itself; it is still redacted and cut. */
  formatter?: ((result: ExecutionResult) => string) | undefined
}

/** A result in two forms: for the model, and unchanged. */
export interface FormattedResult {
  /** For the model. */
  content: string
  /** As `raw.success`: the exit code was 0. False for a call that was refused. */
  success: boolean
  /** The unchanged result, secrets included: not for the model. */
  raw: ExecutionResult
}

/** Characters after a cut that may be the first half of a secret; a longer half matches a pattern. */
const LONGEST_UNRECOGNIZED = 64

/**
 * Formats a result for a model: a success is stdout, then stderr; a failure is stderr, then
 * stdout; with the markers `[TRUNCATED]`, `[TIMEOUT]` and `[Exit code: N]` where they apply.
 * Secrets become `[REDACTED]` before anything is cut.
 *
 * @example
 * formatResult(await executeCommand(['git', 'log']), { maxLength: 2000 }).content
 */
export function formatResult(result: ExecutionResult, options: OutputOptions = {}): FormattedResult {
  const {
    maxLength = DEFAULT_MAX_RESULT_LENGTH,
    redactSecrets = true,
    redactPatterns = [],
    formatter,
  } = options
  const filter = createResultFilter([], {
    maxLength: Number.POSITIVE_INFINITY,
    redactSecrets,
    redactPatterns,
  })
  const clean = (text: string) => filter.filter(text, result.toolName)
  const content = formatter
    ? truncate(clean(formatter(result)), maxLength)
    : assemble(result, clean, { ...options, maxLength })
  return { content, success: result.success, raw: result }
}

function assemble(
  result: ExecutionResult,
  clean: (text: string) => string,
  { maxLength, includeStderr = true, includeExitCode }: OutputOptions & { maxLength: number },
): string {
  const part = (given: string | null | undefined) => {
    const text = given ?? '' // results of other programs have null for a stream that was not captured
    return clean(result.truncated ? withoutPartialToken(text) : text)
  }
  const stdout = part(result.stdout)
  const stderr = includeStderr ? part(result.stderr) : ''
  const saysExitCode = includeExitCode ?? !(result.success || result.timedOut)
  const markers = [
    result.timedOut ? '[TIMEOUT]' : '',
    saysExitCode ? `[Exit code: ${result.exitCode ?? 'none'}]` : '',
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
