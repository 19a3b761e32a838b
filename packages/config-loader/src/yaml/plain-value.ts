import { getScalarValue, parseEvents } from 'js-yaml'
import type { ValuePath } from '../path.js'
import { construct, meant } from './events.js'

/** What a file holds, read without the positions that only a mistake needs. */
export interface PlainValue {
  value: object
  /** The text of a single value as it is written, before YAML took it for a number. */
  written(path: ValuePath): string | undefined
}

/**
 * Reads a file of nothing but maps, lists and single values, which is what a configuration is, several times as fast as the
 * parser that knows positions and explains mistakes.
 *
 * Undefined for everything else, and for what two parsers might understand differently: mistakes, tags, anchors, merges, several documents, keys
 * that are no texts. See docs/decisions/0078-two-readers-of-yaml.md.
 */
export function readPlain(text: string, path: string): PlainValue | undefined {
  try {
    return path.endsWith('.json') ? readJson(text) : readPlainYaml(text)
  } catch {
    return undefined // the other parser says what is wrong, and where
  }
}

function readJson(text: string): PlainValue | undefined {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null) return undefined
  if (keysIn(value) !== keysWritten(text)) return undefined // one is there twice: JSON.parse takes the last
  return { value, written: () => undefined }
}

function keysIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const own = Array.isArray(value) ? 0 : Object.keys(value).length
  return Object.values(value).reduce((sum: number, inner) => sum + keysIn(inner), own)
}

/** In valid JSON, what stands in quotes before a colon is a key, and nothing else is. */
function keysWritten(json: string): number {
  const strings = json.match(/"[^"\\]*(?:\\.[^"\\]*)*"\s*:?/g) ?? []
  return strings.filter((string) => string.endsWith(':')).length
}

function readPlainYaml(text: string): PlainValue | undefined {
  if (ODD.test(text)) return undefined
  const events = parseEvents(text, {})
  const value = construct(events, text, meant)
  if (typeof value !== 'object' || value === null) return undefined
  return { value, written: (path) => textAt(construct(events, text, getScalarValue), path) }
}

/** What two parsers may understand differently, by the letters alone. */
const ODDITIES = [
  /[\t\r\ufeff\x85\u2028\u2029]/, // not white space for everybody
  /^ *%|^\.\.\.|^ +---|\n---/, // directives and marks of documents
  /[|>][-+]?\d[-+]?(?: |$)/, // a number of spaces behind | or >
  /\\\n *\n/, // \ before an empty line
  /\\U/, // letters beyond all others
  /[eE]\+?\d{3}|(?<![\da-fA-F])[\da-fA-F]{200}/, // numbers beyond all others
  /\n +(?![\s\S])/, // blanks that end the file: are they a line?
  /^ *#.*\n[ \n]*[\]},]/, // a comment before the end of a list or map
  /^ *[|>][-+]? *(?: #.*)?$/, // a text that begins on a line of its own
  /^ *:[^ \n]/, // a value glued to the colon that begins a line
  /[\]}"'] *\?/, // a question mark behind what ends with a bracket or quote: is it a key?
]
const ODD = new RegExp(ODDITIES.map(({ source }) => source).join('|'), 'm')

function textAt(value: unknown, path: ValuePath): string | undefined {
  let found = value
  for (const segment of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, segment)) return undefined
    found = (found as Record<string | number, unknown>)[segment]
  }
  return typeof found === 'string' ? found : undefined
}
