import { readdirSync, readFileSync } from 'node:fs'

/** What Linux tells of one process. */
export interface ProcessStat {
  pid: number
  /** One letter: R running, S sleeping, Z dead but not yet buried … */
  state: string
  parent: number
  group: number
  /** Clock ticks between the boot and its start: with the pid, who it is. */
  startTicks: number
}

/** Every process this system shows us; undefined where there is no `/proc`. */
export function listProcesses(): ProcessStat[] | undefined {
  try {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    return pids.flatMap((pid) => readStat(Number(pid)) ?? [])
  } catch {
    return undefined // no /proc here (macOS)
  }
}

/** Undefined when there is no such process any more. */
export function readStat(pid: number): ProcessStat | undefined {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return undefined // it ended meanwhile, or there is no /proc
  }
  // The second field is the program's name in parentheses, and may hold parentheses and spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const number = (index: number) => Number(fields[index])
  return { pid, state: fields[0] ?? '', parent: number(1), group: number(2), startTicks: number(19) }
}

/** False for a process that is dead and only waits to be buried by its parent. */
export function isAlive({ state }: ProcessStat): boolean {
  return state !== 'Z' && state !== 'X'
}
