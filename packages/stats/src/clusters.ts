import { requireFinite, show } from './check.js'

/** Names the task, person or document that a value belongs to. Values of the same one are not independent. */
export type Cluster = string | number

/** The values of one task. */
export interface Group {
  sum: number
  count: number
}

/** Adds values up by task, in the order in which the tasks first come. */
export function groupByTask(place: string, entries: Iterable<[Cluster, number]>): Map<Cluster, Group> {
  const groups = new Map<Cluster, Group>()
  for (const [task, value] of entries) {
    requireFinite(`${place} of task ${show(task)}`, value)
    const { sum, count } = groups.get(task) ?? { sum: 0, count: 0 }
    groups.set(task, { sum: sum + value, count: count + 1 })
  }
  return groups
}

/** Each value with its task. */
export function pairUp<T>(name: string, values: readonly T[], tasks: readonly Cluster[]): [Cluster, T][] {
  if (values.length === tasks.length) return tasks.map((task, index) => [task, values[index] as T])
  throw new RangeError(
    `${name} needs one task a value, got ${values.length} values and ${tasks.length} tasks.`,
  )
}

/** Refuses what tells nothing about other tasks. */
export function requireTwoTasks(name: string, tasks: number, which = ''): void {
  if (tasks >= 2) return
  throw new RangeError(
    `${name} needs at least 2 tasks${which}, got ${tasks}: how tasks vary cannot be seen in fewer.`,
  )
}
