import {
  CORE_SCHEMA,
  constructFromEvents,
  defineMappingTag,
  EVENT_ID,
  type Event,
  FAILSAFE_SCHEMA,
  mapTag,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
  type Schema,
} from 'js-yaml'
import type { ValuePath } from './path.js'

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
  return { value, written: () => undefined }
}

function readPlainYaml(text: string): PlainValue | undefined {
  if (ODD.test(text)) return undefined
  const events = parseEvents(text, {})
  if (events.some((event) => isOdd(event, text))) return undefined
  const construct = (schema: Schema) => constructFromEvents(events, { source: text, schema })
  const [value, ...others] = construct(PLAIN_SCHEMA)
  if (typeof value !== 'object' || value === null || others.length > 0) return undefined
  return { value, written: (path) => textAt(construct(FAILSAFE_SCHEMA)[0], path) }
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
]
const ODD = new RegExp(ODDITIES.map(({ source }) => source).join('|'), 'm')

/** Tags, anchors and aliases, and what begins behind a value: `- "x" b: 1`. */
function isOdd(event: Event, text: string): boolean {
  if (event.type === EVENT_ID.ALIAS) return true
  if ('tagStart' in event && (event.tagStart >= 0 || event.anchorStart >= 0)) return true
  return event.type === EVENT_ID.SCALAR && !isBehindSeparator(event, text)
}

function isBehindSeparator({ style, valueStart }: ScalarEvent, text: string): boolean {
  const isQuoted = style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED
  let before = valueStart - (isQuoted ? 2 : 1)
  while (text[before] === ' ') before -= 1
  return before < 0 || '\n[{,:?-'.includes(text.charAt(before))
}

/** Maps with texts for keys. A key like `null:` has several readings, and `<<` merges. */
const TEXT_KEYS = defineMappingTag(mapTag.tagName, {
  ...mapTag,
  addPair: (map, key, value) =>
    typeof key === 'string' && key !== '<<' ? mapTag.addPair(map, key, value) : 'This key is no text.',
})
const PLAIN_SCHEMA = CORE_SCHEMA.withTags(TEXT_KEYS)

function textAt(value: unknown, path: ValuePath): string | undefined {
  let found = value
  for (const segment of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, segment)) return undefined
    found = (found as Record<string | number, unknown>)[segment]
  }
  return typeof found === 'string' ? found : undefined
}
