import {
  boolCoreTag,
  EVENT_ID,
  type Event,
  floatCoreTag,
  getScalarValue,
  intCoreTag,
  NOT_RESOLVED,
  nullCoreTag,
  SCALAR_STYLE,
  type ScalarEvent,
} from 'js-yaml'

type ReadScalar = (text: string, event: ScalarEvent) => unknown

/** The value of the one document that the events are of. Throws for what two parsers may understand differently. */
export function construct(events: readonly Event[], text: string, readScalar: ReadScalar): unknown {
  let index = 1 // the first one says that a document begins
  const value = next()
  if (index !== events.length - 1) throw new Error('There is another document.')
  return value

  function next(isKey = false): unknown {
    const event = events[index++]
    if (event === undefined || !('tagStart' in event)) throw new Error('This is an alias, or nothing.')
    if (event.tagStart >= 0 || event.anchorStart >= 0) throw new Error('This has a tag or an anchor.')
    if (event.type === EVENT_ID.SCALAR) return single(event, isKey)
    return event.type === EVENT_ID.MAPPING ? map() : list()
  }

  function single(event: ScalarEvent, isKey: boolean): unknown {
    if (!isBehindSeparator(event, text)) throw new Error('This is glued to another value.')
    if (!isKey && isUnderOutdentedComment(event, text))
      throw new Error('A comment may have hidden its indentation.')
    return readScalar(text, event)
  }

  function list(): unknown[] {
    const items: unknown[] = []
    while (events[index]?.type !== EVENT_ID.POP) items.push(next())
    index += 1
    return items
  }

  function map(): object {
    const entries: Record<string, unknown> = {}
    while (events[index]?.type !== EVENT_ID.POP) {
      const key = next(true)
      // A key like `null:` has several readings, and `<<` merges.
      if (typeof key !== 'string' || key === '<<') throw new Error('This key is not text.')
      if (Object.hasOwn(entries, key)) throw new Error('This key is there twice.')
      const value = next()
      if (key === '__proto__') Object.defineProperty(entries, key, { value, ...ORDINARY })
      else entries[key] = value
    }
    index += 1
    return entries
  }
}

const ORDINARY = { enumerable: true, configurable: true, writable: true }

/** What begins behind a value: `- "x" b: 1`. */
function isBehindSeparator({ style, valueStart }: ScalarEvent, text: string): boolean {
  const isQuoted = style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED
  let before = valueStart - (isQuoted ? 2 : 1)
  while (text[before] === ' ') before -= 1
  return before < 0 || '\n[{,:?-'.includes(text.charAt(before))
}

/**
 * A value on a line of its own, below a comment that is less indented: `yaml` may then take the lines behind the value for a
 * part of it.
 */
function isUnderOutdentedComment({ style, valueStart }: ScalarEvent, text: string): boolean {
  if (style !== SCALAR_STYLE.PLAIN) return false
  let before = valueStart - 1
  while (text[before] === ' ') before -= 1
  const indentation = valueStart - before - 1

  while (before > 0 && text[before] === '\n') {
    const lineStart = text.lastIndexOf('\n', before - 1) + 1
    const line = text.slice(lineStart, before)
    const first = line.search(/[^ ]/)
    if (first >= 0 && line[first] !== '#') return false
    if (first >= 0 && first < indentation) return true
    before = lineStart - 1
  }
  return false
}

const CORE_TAGS = [nullCoreTag, boolCoreTag, intCoreTag, floatCoreTag]

/** A text, or what YAML takes it for where it is written without quotes. */
export function meant(text: string, event: ScalarEvent): unknown {
  const written = getScalarValue(text, event)
  if (event.style !== SCALAR_STYLE.PLAIN || !/^[-+.\d~nNtTfF]|^$/.test(written)) return written
  for (const tag of CORE_TAGS) {
    const value = tag.resolve(written, false, tag.tagName)
    if (value !== NOT_RESOLVED) return value
  }
  return written
}
