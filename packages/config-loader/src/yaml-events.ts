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

  function next(): unknown {
    const event = events[index++]
    if (event === undefined || !('tagStart' in event)) throw new Error('This is an alias, or nothing.')
    if (event.tagStart >= 0 || event.anchorStart >= 0) throw new Error('This has a tag or an anchor.')
    if (event.type === EVENT_ID.SCALAR) return single(event)
    return event.type === EVENT_ID.MAPPING ? map() : list()
  }

  function single(event: ScalarEvent): unknown {
    if (!isBehindSeparator(event, text)) throw new Error('This is glued to another value.')
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
      const key = next()
      // A key like `null:` has several readings, and `<<` merges.
      if (typeof key !== 'string' || key === '<<') throw new Error('This key is no text.')
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
