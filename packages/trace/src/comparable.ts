import type { Step } from './steps.js'
import type { TracedRun } from './traced-run.js'

/** Makes texts of two runs comparable: their paths equal, and what is masked. */
export interface Comparable {
  (text: string): string
  /** How many texts were masked so far. */
  masked(): number
}

/**
 * @param runs - Their workspaces, directories and agents are known by one name in all texts.
 * @param masks - What is taken for equal, with the flag `g`.
 */
export function comparable(runs: readonly TracedRun[], masks: readonly RegExp[] = []): Comparable {
  const paths = new Map<string, string>()
  for (const { directory, metadata } of runs) {
    if (metadata.agent_home) paths.set(metadata.agent_home, '${AGENT_HOME}')
    if (metadata.work_dir) paths.set(metadata.work_dir, '${CWD}')
    paths.set(directory, '${RUN_DIR}')
  }
  // a path ends where no further character of a name follows: a workspace x may stand beside an agent x-agent
  const longestFirst = [...paths.keys()].sort((one, other) => other.length - one.length)
  const places = new RegExp(`(?:${longestFirst.map(escaped).join('|')})(?![\\p{L}\\p{N}_.-])`, 'gu')
  let count = 0
  const equal = (text: string) => {
    const placed = paths.size === 0 ? text : text.replace(places, (path) => paths.get(path) ?? path)
    return masks.reduce(
      (masked, mask) =>
        masked.replace(mask, () => {
          count += 1
          return '[masked]'
        }),
      placed,
    )
  }
  return Object.assign(equal, { masked: () => count })
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

const EXCERPT_CHARACTERS = 80

/** Where two texts differ, and what stands around that place in each; undefined if they do not. */
export function firstDifference(
  left: string,
  right: string,
): { byte: number; left: string; right: string } | undefined {
  if (left === right) return undefined
  let at = 0
  while (at < left.length && left[at] === right[at]) at++
  return { byte: Buffer.byteLength(left.slice(0, at)), left: excerpt(left, at), right: excerpt(right, at) }
}

function excerpt(text: string, at: number): string {
  const from = Math.max(0, Math.min(at - EXCERPT_CHARACTERS / 2, text.length - EXCERPT_CHARACTERS))
  const to = from + EXCERPT_CHARACTERS
  return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`
}

/** What a step did, for aligning two runs: its tools and their commands. */
export function actionsOf({ calls }: Pick<Step, 'calls'>, equal: Comparable): string {
  return JSON.stringify(calls.map(({ name, argv }) => [name, (argv ?? []).map(equal)]))
}

/** A value that differs between two settings, by its path. */
export interface ChangedValue {
  path: string
  left: string | null
  right: string | null
}

/** Compares two values of JSON. Lists whose elements have names are compared by name. */
export function changedValues(left: unknown, right: unknown, equal: Comparable, path = ''): ChangedValue[] {
  const fields = [fieldsOf(left), fieldsOf(right)]
  const isAdded = (left === undefined || right === undefined) && fields.some((each) => each !== undefined)
  const [one, other] = isAdded ? fields.map((each) => each ?? {}) : fields
  if (one === undefined || other === undefined) {
    const [a, b] = [left, right].map((value) => (value === undefined ? null : equal(shown(value))))
    return a === b ? [] : [{ path, left: a ?? null, right: b ?? null }]
  }
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].flatMap((name) =>
    changedValues(one[name], other[name], equal, path === '' ? name : `${path}.${name}`),
  )
}

/** The members of a mapping, or of a list of mappings, by their names if they have some; undefined for anything else. */
function fieldsOf(value: unknown): Record<string, unknown> | undefined {
  if (!Array.isArray(value)) return value === Object(value) ? (value as Record<string, unknown>) : undefined
  if (value.length === 0 || !value.every((element) => element === Object(element))) return undefined
  const nameOf = ({ function: own, name, id, match }: Record<string, unknown>, index: number) =>
    String(Object(own).name ?? name ?? id ?? match ?? index)
  return Object.fromEntries(
    value.map((element, index) => [nameOf(element, index), element.function ?? element]),
  )
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
