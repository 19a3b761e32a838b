import { closeSync, constants, fstatSync, openSync, readSync, renameSync, rmSync } from 'node:fs'
import { REDACTED, redactPatterns } from '@delta/tool-expander/internal'
import { type ByteFilter, writeWhole } from './channels.js'

/** Replaces known secrets in texts and streams. */
export interface Redactor {
  /** False when there is nothing to look for. */
  readonly active: boolean
  /** The text with `[REDACTED]` for each secret. */
  text(text: string): string
  /** Whether a stream of bytes holds one of the secrets. */
  foundIn(chunks: Iterable<Buffer>): boolean
  /** A filter for one stream; it also finds a secret that is spread over several chunks. */
  filter(): ByteFilter
}

/**
 * Makes a redactor for secrets whose values are known.
 *
 * Values of 6 bytes or more are found plain, JSON-escaped, URL-encoded and in base64.
 *
 * @param options.patterns - Default false. True also replaces what looks like a secret (tokens of common services, private
 *   keys, passwords in URLs), in texts, not in streams.
 *
 * @example
 * createRedactor(['hunter2!']).text('password: hunter2!') // password: [REDACTED]
 */
export function createRedactor(
  secrets: readonly string[],
  options: { patterns?: boolean | undefined } = {},
): Redactor {
  const { patterns = false } = options
  const forms = secretForms(secrets)
  const isKnown = forms.length > 0
  const filter = () =>
    isKnown ? streamFilter(forms) : { push: (chunk: Buffer) => chunk, end: () => NOTHING }
  const withoutKnown = (text: string) => (isKnown ? through(filter(), text) : text)
  return {
    active: isKnown || patterns,
    text: (text) => (patterns ? redactPatterns(withoutKnown(text)) : withoutKnown(text)),
    foundIn: (chunks) => holdsAny(chunks, forms),
    filter,
  }
}

function through({ push, end }: ByteFilter, text: string): string {
  return Buffer.concat([push(Buffer.from(text)), end()]).toString()
}

const NOTHING = Buffer.alloc(0)

/**
 * Holds back as many bytes as the longest form could still need: a match is replaced only where every form would be visible
 * whole, so a longer secret is never missed for a shorter one. Its text has one character per byte, so that bytes which are
 * not UTF-8 pass unchanged.
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

/**
 * Replaces the matches that begin before `limit`, of those at one place the longest; what follows the limit is kept as `rest`.
 *
 * Not by a regular expression made of the forms: their length is limited, and the error about a longer one quotes it.
 */
function replaceBefore(text: string, forms: readonly string[], limit: number): { out: string; rest: string } {
  let out = ''
  let done = 0
  let found = forms.map((form) => ({ form, start: text.indexOf(form) })).filter(({ start }) => start >= 0)
  while (found.length > 0) {
    const next = found.reduce((first, other) => (other.start < first.start ? other : first))
    if (next.start >= limit) break
    out += text.slice(done, next.start) + REDACTED
    done = next.start + next.form.length
    found = found
      .map(({ form, start }) => ({ form, start: start < done ? text.indexOf(form, done) : start }))
      .filter(({ start }) => start >= 0)
  }
  const end = Math.max(done, limit)
  return { out: out + text.slice(done, end), rest: text.slice(end) }
}

/** Searches each chunk together with the end of the one before it. */
function holdsAny(chunks: Iterable<Buffer>, forms: readonly string[]): boolean {
  const overlap = (forms[0]?.length ?? 1) - 1
  let held = ''
  for (const chunk of chunks) {
    held = held.slice(Math.max(0, held.length - overlap)) + chunk.toString('latin1')
    if (forms.some((form) => held.includes(form))) return true
  }
  return false
}

/** Shorter values are not redacted: they occur in half of all texts. */
const SHORTEST_SECRET_BYTES = 6

/**
 * Every spelling in which a secret may turn up in output, as bytes in a latin1 string:
 * plain, JSON-escaped, URL-encoded and base64, longest first.
 */
function secretForms(secrets: readonly string[]): string[] {
  const sent = secrets.map((secret) => Buffer.from(secret).toString()) // a lone surrogate reaches a command as U+FFFD
  const long = sent.filter((secret) => Buffer.byteLength(secret) >= SHORTEST_SECRET_BYTES)
  const forms = new Set(long.flatMap(formsOf).map((form) => Buffer.from(form).toString('latin1')))
  return [...forms].sort((one, other) => other.length - one.length)
}

function formsOf(secret: string): string[] {
  const url = encodeURIComponent(secret)
  const strictUrl = url.replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
  const urls = [url, strictUrl, url.replaceAll('%20', '+'), strictUrl.replaceAll('%20', '+')]
  return [secret, ...jsonForms(secret), ...urls, ...urls.map(lowerCaseEscapes), ...base64Forms(secret)]
}

/** As JavaScript writes it, and as Python does: with non-ASCII characters, and `/`, escaped. */
function jsonForms(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1)
  const ascii = json.replaceAll(
    /[^\x00-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return [json, ascii, json.replaceAll('/', '\\/'), ascii.replaceAll('/', '\\/')]
}

function lowerCaseEscapes(url: string): string {
  return url.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())
}

/**
 * The secret alone, in both alphabets and as `base64` and `openssl` break its lines; and within a longer text the part that
 * depends on the secret only, for each of the three places in a group of three bytes where it can begin.
 */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const alone = bytes.toString('base64')
  const within = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
    return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6))
  })
  const broken = [76, 64].map((width) => alone.replaceAll(new RegExp(`.{${width}}(?=.)`, 'g'), '$&\n'))
  const forms = [alone, alone.replaceAll('=', ''), ...within]
  return [...forms, ...forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_')), ...broken]
}

const CHUNK_BYTES = 1024 * 1024

/**
 * Replaces known secrets in a file, if it holds any: it is rewritten beside and renamed.
 *
 * @throws The system's error when it cannot be read or rewritten; the file is then unchanged.
 */
export function redactFile(path: string, known: Redactor): void {
  if (!known.foundIn(chunksOf(path))) return
  const beside = `${path}.redacted`
  try {
    rmSync(beside, { recursive: true, force: true }) // a command may have put a link there, to have another file overwritten
    writeFiltered(path, beside, known.filter())
    renameSync(beside, path)
  } catch (error) {
    rmSync(beside, { force: true }) // half a copy on a full disk
    throw error
  }
}

function writeFiltered(from: string, to: string, filter: ByteFilter): void {
  const target = openSync(to, 'wx', 0o600)
  try {
    for (const chunk of chunksOf(from)) writeWhole(target, filter.push(chunk))
    writeWhole(target, filter.end())
  } finally {
    closeSync(target)
  }
}

/** The bytes of a file, in a buffer that is reused. A pipe or device that a command put in its place may have no end: it is not read. */
function* chunksOf(path: string): Generator<Buffer> {
  const source = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    if (!fstatSync(source).isFile()) return
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
    for (let count = readSync(source, buffer); count > 0; count = readSync(source, buffer)) {
      yield buffer.subarray(0, count)
    }
  } finally {
    closeSync(source)
  }
}
