import { setTimeout as delay } from 'node:timers/promises'
import { processStart } from './process-identity.js'

const GRACE_MS = 5_000
const POLL_MS = 20

/**
 * Ends another process of this machine and waits until it is gone: TERM, then KILL after 5 s.
 *
 * @param start - Its start time; when the pid has another one by now, nothing is sent.
 */
export async function endProcess(pid: number, start: string | null): Promise<void> {
  send(pid, start, 'SIGTERM')
  send(pid, start, 'SIGCONT') // a stopped process notices the first signal only when it goes on
  const deadline = performance.now() + GRACE_MS
  while (runs(pid, start)) {
    if (performance.now() > deadline) send(pid, start, 'SIGKILL')
    await delay(POLL_MS) // no event tells the end of a process that is not our child
  }
}

function runs(pid: number, start: string | null): boolean {
  const now = processStart(pid)
  return now !== undefined && (start === null || now === start)
}

function send(pid: number, start: string | null, signal: NodeJS.Signals): void {
  if (!runs(pid, start)) return
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
