import { isDeepStrictEqual } from 'node:util'
import { isMap, parseYaml } from './yaml.js'

/**
 * The keys in which two YAML texts differ, each as a path such as `llm.stream` or `tools.bash`. The order of keys and comments
 * do not count.
 *
 * @returns Undefined if one of the texts is not a mapping.
 */
export function changedKeys(before: string, after: string): string[] | undefined {
  const [old, now] = [before, after].map(parsed)
  return isMap(old) && isMap(now) ? differences(old, now) : undefined
}

function parsed(text: string): unknown {
  return parseYaml(text, { path: '', name: '' }).file?.value
}

/** Goes down into mappings only: what is in a named element of a list is the engine's own form of what the author wrote. */
function differences(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
  goesDown = true,
): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name) => {
    const [old, now] = [before[name], after[name]]
    if (isDeepStrictEqual(old, now)) return []
    const [inOld, inNow] = [byName(old), byName(now)]
    if (!goesDown || !inOld || !inNow) return [name]
    const inner = differences(inOld, inNow, isMap(old))
    return inner.length === 0 ? [name] : inner.map((path) => `${name}.${path}`) // only the order of a list differs
  })
}

/** A mapping, or a list whose elements have names; undefined for any other value. */
function byName(value: unknown): Record<string, unknown> | undefined {
  if (isMap(value)) return value
  if (!Array.isArray(value)) return undefined
  const entries = value.map((item) => [isMap(item) ? (item.name ?? item.id) : undefined, item] as const)
  return entries.every(([name]) => typeof name === 'string') ? Object.fromEntries(entries) : undefined
}
