import { setTimeout as wait } from 'node:timers/promises'
import { environmentOf, listProcesses, type ProcessInfo } from '@delta/durable/internal'

/** Time between TERM and KILL. */
const GRACE_MS = 2000
const VANISH_MS = 1000

/** False where no environment of another process can be read. */
export const seesEnvironments = process.platform === 'linux'

/** Said of each cell where that is so. */
export const DETACHED_UNSEEN = 'detached processes of agents were not looked for (no /proc)'

/**
 * Ends every process that carries `DELTA_CELL` with this value, and what these have started: TERM, and KILL after 2 s.
 *
 * @returns False if one survived. Never touches this process or one above it.
 */
export async function endProcessesOf(cell: string): Promise<boolean> {
  if (!seesEnvironments) return true
  const seen = new Map<number, string>()
  if (await signalUntilGone(cell, seen, 'SIGTERM', GRACE_MS)) return true
  return signalUntilGone(cell, seen, 'SIGKILL', VANISH_MS)
}

async function signalUntilGone(
  cell: string,
  seen: Map<number, string>,
  signal: NodeJS.Signals,
  withinMs: number,
): Promise<boolean> {
  const deadline = performance.now() + withinMs
  for (let pauseMs = 2; ; pauseMs = Math.min(2 * pauseMs, 50)) {
    const left = processesOf(cell, seen)
    for (const { pid, startTime } of left) {
      if (signal === 'SIGKILL' || !seen.has(pid)) send(pid, signal)
      seen.set(pid, startTime)
    }
    if (left.length === 0) return true
    if (performance.now() > deadline) return false
    await wait(pauseMs)
  }
}

/** @param seen - Start times of those that were found before: they belong to the cell even if nothing shows it any more. */
function processesOf(cell: string, seen: ReadonlyMap<number, string>): ProcessInfo[] {
  const processes = listProcesses().filter(({ alive }) => alive)
  const above = ancestors(processes)
  const found = new Set(
    processes.filter(
      ({ pid, startTime }) => seen.get(pid) === startTime || environmentOf(pid).DELTA_CELL === cell,
    ),
  )
  for (const { pid } of found) for (const child of processes) if (child.parent === pid) found.add(child) // a Set visits what is added
  return [...found].filter(({ pid }) => !above.has(pid))
}

function ancestors(processes: readonly ProcessInfo[]): Set<number> {
  const parents = new Map(processes.map(({ pid, parent }) => [pid, parent]))
  const found = new Set<number>()
  for (let each: number | undefined = process.pid; each && !found.has(each); each = parents.get(each))
    found.add(each)
  return found
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ESRCH' && code !== 'EPERM') throw error // it ended meanwhile, or is another user's by now
  }
}
