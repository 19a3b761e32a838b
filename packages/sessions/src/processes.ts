import { readFileSync } from 'node:fs'
import { environmentOf, listProcesses, processStart, thisMachine } from '@delta/durable'

/**
 * Tells a process from every other with the same number, a later one or one of another container: its start time, as the
 * system counts, and after an `@` within which it has its number. Undefined when there is no such process.
 */
export function startOf(pid: number): string | undefined {
  const start = processStart(pid)
  const { bootId, pidNamespace } = thisMachine()
  return start === undefined ? undefined : `${start}@${bootId}${pidNamespace}`
}

/** What a process was started as, as far as that can be seen. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
  } catch {
    return '' // it ended meanwhile, or this is not Linux
  }
}

/** Every living process whose variable of that name has a value for which `matches` is true. Linux only, elsewhere none. */
export function processesWith(name: string, matches: (value: string) => boolean): number[] {
  const pids = listProcesses().flatMap(({ pid, alive }) => (alive && pid !== process.pid ? [pid] : []))
  return pids.filter((pid) => matches(environmentOf(pid)[name] ?? ''))
}
