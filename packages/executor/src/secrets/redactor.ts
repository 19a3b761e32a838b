import type { ByteFilter } from '../process/pump.js'
import { findLiterals } from './literals.js'
import { secretForms } from './secret-forms.js'
import { REDACTED, redactPatterns } from './secret-patterns.js'

/** Takes known secrets out of texts and streams. */
export interface Redactor {
  /** False when there is nothing to look for, so that callers can save the work. */
  readonly active: boolean
  /** The text with `[REDACTED]` for each secret. */
  text(text: string): string
  /** Whether a stream of bytes holds one of the secrets. */
  foundIn(chunks: Iterable<Buffer>): boolean
  /** A filter for one stream; a secret that is spread over several chunks is found too. */
  filter(): ByteFilter
}

/**
 * Makes a redactor for secrets whose values are known.
 *
 * Values of 6 bytes or more are found plain, JSON-escaped, URL-encoded and in base64.
 *
 * @param options.patterns - Also take out what merely looks like a secret, from texts (not from
 *   streams): see `redactPatterns`.
 */
export function createRedactor(
  secrets: readonly string[],
  options: { patterns?: boolean | undefined } = {},
): Redactor {
  const { patterns = false } = options
  const forms = compile(secrets)
  const isKnown = forms.length > 0
  const isPlain = forms.every((form) => ASCII.test(form)) // then text shows what bytes would
  const replaceKnown = (text: string) =>
    isPlain && !forms.some((form) => text.includes(form))
      ? text
      : onBytes(text, (bytes) => replaceBefore(bytes, forms, bytes.length).out)
  return {
    active: isKnown || patterns,
    text: (text) => (patterns ? redactPatterns(replaceKnown(text)) : replaceKnown(text)),
    foundIn: (chunks) => holdsAny(chunks, forms),
    filter: () => (isKnown ? streamFilter(forms) : { push: same, end: () => NOTHING }),
  }
}

const NOTHING = Buffer.alloc(0)
const ASCII = /^\p{ASCII}*$/u

let last: { secrets: readonly string[]; forms: readonly string[] } = { secrets: [], forms: [] }

/** A run has the same secrets at every call, and working out their forms costs as much as a whole observation. */
function compile(secrets: readonly string[]): readonly string[] {
  if (secrets.length === 0) return []
  if (secrets.join('\0') !== last.secrets.join('\0'))
    last = { secrets: [...secrets], forms: secretForms(secrets) }
  return last.forms
}

function same(chunk: Buffer): Buffer {
  return chunk
}

/** One character per byte, so that bytes which are no UTF-8 pass unharmed and lengths are bytes. */
function onBytes(text: string, change: (bytes: string) => string): string {
  return Buffer.from(change(Buffer.from(text).toString('latin1')), 'latin1').toString('utf8')
}

/**
 * Holds back as many bytes as the longest form could still need: a match is taken only where
 * every form would be visible whole, so a longer secret is never missed for a shorter one.
 */
function streamFilter(forms: readonly string[]): ByteFilter {
  const longest = forms[0]?.length ?? 1
  let held = ''
  const take = (settled: (length: number) => number) => {
    const { out, rest } = replaceBefore(held, forms, settled(held.length))
    held = rest
    return Buffer.from(out, 'latin1')
  }
  return {
    push(chunk) {
      held += chunk.toString('latin1')
      return take((length) => Math.max(0, length - longest + 1))
    },
    end: () => take((length) => length),
  }
}

/** Replaces the matches that begin before `limit`; what follows the limit is kept as `rest`. */
function replaceBefore(text: string, forms: readonly string[], limit: number): { out: string; rest: string } {
  let out = ''
  let done = 0
  for (const { start, end } of findLiterals(text, forms)) {
    if (start >= limit) break
    out += text.slice(done, start) + REDACTED
    done = end
  }
  const end = Math.max(done, limit)
  return { out: out + text.slice(done, end), rest: text.slice(end) }
}

/** Searches each chunk together with the end of the one before it, as bytes: much faster than text. */
function holdsAny(chunks: Iterable<Buffer>, forms: readonly string[]): boolean {
  const needles = forms.map((form) => Buffer.from(form, 'latin1'))
  const overlap = (needles[0]?.length ?? 1) - 1
  let end: Buffer = NOTHING
  for (const chunk of chunks) {
    const seam = Buffer.concat([end, chunk.subarray(0, overlap)])
    if (needles.some((needle) => chunk.includes(needle) || seam.includes(needle))) return true
    end = Buffer.concat([end, chunk.subarray(-overlap)]).subarray(-overlap)
  }
  return false
}
