import type { ExpandedParameter } from './tool.js'

/**
 * Why a value cannot be passed for a parameter; undefined when it can.
 *
 * What passes is written by `String`, so everything whose text would not be the value itself is refused.
 */
export function complaintAbout(parameter: ExpandedParameter, value: unknown): string | undefined {
  const { type, inject_as, enum: allowed, pattern } = parameter
  if (type === 'array') {
    if (!Array.isArray(value)) return 'must be a list of texts'
    const complaint = value
      .map((item) => complaintAbout({ ...parameter, type: 'string' }, item))
      .find(Boolean)
    return complaint && `holds a value that ${complaint}`
  }
  if (!/string|number|boolean/.test(typeof value)) return 'must be a single value'
  const text = String(value)
  const [shape, kind] = KINDS[type] ?? []
  // The text of a number is that number, as the model will have written it unless `type` says it is only a number.
  const isExact =
    Math.abs(value as number) < 2 ** 53 && !Object.is(value, -0) && (type === 'number' || !text.includes('e'))
  if (typeof value === 'number' && !isExact) return 'cannot be passed on exactly; send it as a string'
  if (shape?.test(text) === false) return `must be ${kind}`
  if (text.includes('\0') && inject_as !== 'stdin') return 'must not hold a NUL character'
  if (!text.isWellFormed()) return 'is not valid Unicode'
  if (allowed?.some((each) => String(each) === text) === false) return `must be one of: ${allowed.join(', ')}`
  if (pattern !== undefined && !wholePattern(pattern).test(text)) return `must match /${pattern}/`
  return undefined
}

/** The author's pattern, for the whole value. */
export function wholePattern(pattern: string): RegExp {
  return new RegExp(`^(?:${pattern})$`, 'u')
}

const KINDS: Partial<Record<ExpandedParameter['type'], [shape: RegExp, kind: string]>> = {
  integer: [/^-?\d+$/, 'a whole number'],
  number: [/^-?\d+(?:\.\d+)?(?:e[-+]?\d+)?$/i, 'a number'],
  boolean: [/^(?:true|false)$/, 'true or false'],
}
