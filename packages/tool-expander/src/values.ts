import type { ExpandedParameter } from './tool.js'

/** A value as text, or why it cannot be one. An array becomes a list of texts. */
export type RenderedValue = { ok: true; text: string | string[] } | { ok: false; reason: string }

/** Checks a value against its parameter and writes it as the text a command receives. */
export function renderValue(parameter: ExpandedParameter, value: unknown): RenderedValue {
  if (parameter.type !== 'array') return renderOne(parameter, value)
  if (!Array.isArray(value)) return refuse('must be a list of texts')
  const items = value.map((item) => renderOne({ ...parameter, type: 'string' }, item))
  const wrong = items.find((item) => !item.ok)
  if (wrong !== undefined) return wrong
  return { ok: true, text: items.flatMap((item) => (item.ok ? item.text : [])) }
}

function renderOne(parameter: ExpandedParameter, value: unknown): RenderedValue {
  const rendered = renderText(value)
  if (!rendered.ok) return rendered
  const { text } = rendered
  const expected = TYPES[parameter.type]
  if (expected?.pattern.test(text) === false) return refuse(`must be ${expected.name}`)
  if (text.includes('\0') && parameter.inject_as !== 'stdin')
    return refuse('holds a NUL character, which no argument can carry')
  if (/\p{Surrogate}/u.test(text)) return refuse('is not valid Unicode')
  if (parameter.enum !== undefined && !parameter.enum.some((allowed) => String(allowed) === text)) {
    return refuse(`must be one of: ${parameter.enum.join(', ')}`)
  }
  if (parameter.pattern !== undefined && !wholePattern(parameter.pattern).test(text)) {
    return refuse(`must match the pattern ${parameter.pattern}`)
  }
  return { ok: true, text }
}

function renderText(value: unknown): { ok: true; text: string } | { ok: false; reason: string } {
  if (typeof value === 'string') return { ok: true, text: value }
  if (typeof value === 'boolean') return { ok: true, text: String(value) }
  if (typeof value !== 'number') return refuse(value === null ? 'must not be null' : 'must be a single value')
  const exact = Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
  if (!exact || Object.is(value, -0) || String(value).includes('e')) {
    return refuse('is a number that cannot be passed on exactly; send it as a string')
  }
  return { ok: true, text: String(value) }
}

/** The author's pattern, for the whole value. */
export function wholePattern(pattern: string): RegExp {
  return new RegExp(`^(?:${pattern})$`, 'u')
}

const TYPES: Partial<Record<ExpandedParameter['type'], { pattern: RegExp; name: string }>> = {
  integer: { pattern: /^-?\d+$/, name: 'a whole number' },
  number: { pattern: /^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$/, name: 'a number' },
  boolean: { pattern: /^(?:true|false)$/, name: 'true or false' },
}

function refuse(reason: string): { ok: false; reason: string } {
  return { ok: false, reason }
}
