import { isUtf8 } from 'node:buffer'
import { type CapturedOutput, decodeHead, decodeTail, type Keep } from './channels.js'
import { showControls } from './quote.js'

/** How one stream of a command is to be shown to a model. */
interface ShownStream {
  captured: CapturedOutput
  /** Where the whole output is; absent when it was not kept. */
  path?: string | undefined
}

/** How long an observation may be, and what must not be in it. */
interface ObservationOptions {
  /** Of both streams together, in UTF-16 units. */
  maxChars: number
  keep: Keep
  /** Takes secrets out; sees whole texts, before anything is cut. */
  redact: (text: string) => string
}

/**
 * The text a model reads as the result of a command.
 *
 * A plain success (no status, nothing on stderr, nothing cut) is its stdout and nothing else.
 * Otherwise: the status in square brackets on the first line, stdout, and stderr behind a line
 * `[stderr]`. What is longer than `maxChars` together is cut, at a line that says where the rest is.
 *
 * @param status - What to say besides the output, without brackets: `exit code 2`.
 */
export function formatObservation(
  status: string | undefined,
  streams: { stdout: ShownStream; stderr: ShownStream },
  options: ObservationOptions,
): string {
  const { maxChars, keep, redact } = options
  const ends = { stdout: readEnds(streams.stdout, redact), stderr: readEnds(streams.stderr, redact) }
  const budget = shareBudget(lengthOf(ends.stdout), lengthOf(ends.stderr), maxChars)
  const stdout = fit(ends.stdout, budget.stdout, keep)
  const stderr = fit(ends.stderr, budget.stderr, keep)

  return joined([status === undefined ? '' : `[${status}]\n`, stdout, stderr && `[stderr]\n${stderr}`])
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').reduce(onNewLine, '')
}

function onNewLine(text: string, part: string): string {
  return text === '' || text.endsWith('\n') ? text + part : `${text}\n${part}`
}

/** A stream as text: its beginning and, if bytes lie between that were not read, its end. */
interface Ends {
  head: string
  tail: string
  whole: boolean
  /** Bytes that are no UTF-8 were replaced. */
  lossy: boolean
  bytes: number
  path: string | undefined
}

function readEnds({ captured, path }: ShownStream, redact: (text: string) => string): Ends {
  const { bytes, omittedBytes } = captured
  const show = (text: string) => showControls(redact(text))
  if (omittedBytes === 0) {
    return { head: show(captured.text), tail: '', whole: true, lossy: !isUtf8(captured.head), bytes, path }
  }
  const head = show(decodeHead(captured.head))
  return { head, tail: show(decodeTail(captured.tail)), whole: false, lossy: false, bytes, path }
}

function lengthOf({ head, whole }: Ends): number {
  return whole ? head.length : Number.POSITIVE_INFINITY
}

/** stderr gets what stdout leaves, and a third in any case. */
function shareBudget(
  stdoutChars: number,
  stderrChars: number,
  maxChars: number,
): { stdout: number; stderr: number } {
  const stderr = Math.min(stderrChars, Math.max(Math.floor(maxChars / 3), maxChars - stdoutChars))
  return { stdout: maxChars - stderr, stderr }
}

function fit(ends: Ends, budget: number, keep: Keep): string {
  const where = ends.path === undefined ? '' : `; all ${ends.bytes} bytes are in ${ends.path}`
  if (ends.whole && ends.head.length <= budget)
    return ends.lossy ? onNewLine(ends.head, `[not UTF-8 text${where}]\n`) : ends.head
  const headChars = keep === 'head' ? budget : keep === 'tail' ? 0 : Math.ceil(budget / 2)
  const head = firstChars(ends.head, headChars)
  const tail = lastChars(ends.whole ? ends.head : ends.tail, budget - headChars)
  const leftOut = Math.max(0, ends.bytes - Buffer.byteLength(head) - Buffer.byteLength(tail))
  return joined([head, `[${leftOut} bytes left out here${where}]\n`, tail])
}

/** Never half of a character that has two units. */
function firstChars(text: string, count: number): string {
  return text.slice(0, count).replace(/[\ud800-\udbff]$/, '')
}

function lastChars(text: string, count: number): string {
  return text.slice(text.length - Math.min(count, text.length)).replace(/^[\udc00-\udfff]/, '')
}
