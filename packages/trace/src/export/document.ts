import { homedir } from 'node:os'
import { createRedactor } from '@delta/executor'
import type { ContentPart } from '@delta/journal/runs'
import { escaped } from '../comparable.js'
import type { TracedRun } from '../traced-run.js'

/** What an export holds beside the run. */
export interface ExportOptions {
  /** The run that was asked for, when this one is a sub-agent of it. Default: this run. */
  root?: TracedRun | undefined
  /** True: `otlp` holds the spans of sub-agents, and `atif` names their documents, which lie beside it. */
  subAgents?: boolean | undefined
  /** True: `otlp` holds what was said, too. The other formats always do. */
  content?: boolean | undefined
  /** True: what looks like a secret is replaced, and so are the home directory (`~`) and the work directory (`.`). */
  redact?: boolean | undefined
  /** The home directory. Default: that of this process. */
  home?: string | undefined
}

/** Writes a value as JSON, on one line. */
export type Write = (value: object) => string

/** Replaces half of a surrogate pair, which strict readers refuse, in every text, and what `redact` says. */
export function writerFor(
  run: TracedRun,
  { redact = false, root = run, home = homedir() }: ExportOptions,
): Write {
  const withoutSecrets = redactorFor(
    redact ? [home, ...[run, root].map(({ metadata }) => metadata.work_dir)] : [],
  )
  const clean = (text: string) => {
    const whole = text.replace(/\p{Surrogate}/gu, '\ufffd')
    return redact ? withoutSecrets(whole) : whole
  }
  return (value) =>
    JSON.stringify(value, (_, each: unknown) => {
      if (typeof each === 'string') return clean(each)
      if (typeof each !== 'object' || each === null || Array.isArray(each)) return each
      return Object.fromEntries(Object.entries(each).map(([key, field]) => [clean(key), field]))
    })
}

/** @param directories - The home directory first, then those of the work. */
function redactorFor([home, ...work]: (string | null)[]): (text: string) => string {
  const named = [...work.map((path) => [path, '.'] as const), [home, '~'] as const]
  const paths = named.flatMap(([path, short]) => (path && path !== '/' ? [{ path, short }] : []))
  paths.sort((one, other) => other.path.length - one.path.length)
  const shorten = paths.map(({ path, short }) => {
    const whole = new RegExp(`${escaped(path)}(?![\\w-]|\\.\\w)`, 'g')
    return (text: string) => text.replace(whole, short)
  })
  const { text: withoutPatterns } = createRedactor([], { patterns: true })
  return (text) => shorten.reduce((shortened, change) => change(shortened), withoutPatterns(text))
}

/** A line in the place of an image or a file, where a format takes only texts. */
export function placeholderOf(part: Exclude<ContentPart, { type: 'text' }>): string {
  const { type, media_type, bytes, width, height, name } = part
  const size = width === undefined ? '' : ` ${width}x${height}`
  return `[${name ?? type} ${media_type}${size}, ${bytes} bytes]`
}

/** The year 2500: nanoseconds from 1970 until then are a number of 64 bits. */
const LAST_MS = Date.UTC(2500, 0)

/** Undefined for a time that formats have no room for: none, one before 1970, or centuries away. A tool may have written it. */
export function timeIn(at: Date | string | number | undefined): Date | undefined {
  const time = new Date(at ?? Number.NaN)
  return time.getTime() >= 0 && time.getTime() < LAST_MS ? time : undefined
}

/** A JSON object with a list that may be long: the fields before it, one element a line, the fields after it. */
export async function* objectWithList(
  write: Write,
  {
    before,
    name,
    elements,
    after,
  }: { before: object; name: string; elements: AsyncIterable<object>; after: () => object },
): AsyncGenerator<string> {
  yield `${write(before).slice(0, -1)},"${name}":[`
  let separator = '\n'
  for await (const element of elements) {
    yield separator + write(element)
    separator = ',\n'
  }
  const rest = write(after()).slice(1)
  yield `\n]${rest === '}' ? '' : ','}${rest}`
}
