import { setTimeout as wait } from 'node:timers/promises'
import { listProcesses, seesProcesses } from './processes.js'

/** How long killed processes may take to vanish before we stop looking. */
const VANISH_MS = 500

const running = new Set<number>()

export function rememberGroup(pid: number): void {
  running.add(pid)
}

export function forgetGroup(pid: number): void {
  running.delete(pid)
}

/**
 * Kills (KILL, at once, synchronously) every process group that `runCommand` has running in
 * this process: for a program that must leave within the same tick, on a second Ctrl+C say.
 */
export function killRunningCommands(): void {
  for (const pid of running) signalGroup(pid, 'SIGKILL')
}

/** Sends a signal to a process group. False when nobody is left in it, or it is not ours to signal. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal)
    return true
  } catch {
    return false // ESRCH: gone. EPERM: every member has another owner by now
  }
}

/** Ends a process group: TERM, and KILL for whoever is left after the grace. */
export async function endGroup(pid: number, graceMs: number): Promise<void> {
  signalGroup(pid, 'SIGTERM')
  if (await groupVanishes(pid, graceMs)) return
  signalGroup(pid, 'SIGKILL')
  await groupVanishes(pid, VANISH_MS)
}

/** Looks again and again: only the leader is our child, so no event tells of the others. */
async function groupVanishes(pid: number, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs
  for (let pauseMs = 2; hasMembers(pid); pauseMs = Math.min(pauseMs * 2, 50)) {
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) return false
    await wait(Math.min(pauseMs, leftMs))
  }
  return true
}

/** Dead members that nobody has buried (a container's first process often does not) do not count, where they can be told. */
function hasMembers(pid: number): boolean {
  if (!signalGroup(pid, 0)) return false
  if (!seesProcesses()) return true
  return listProcesses().some(({ group, alive }) => group === pid && alive)
}
