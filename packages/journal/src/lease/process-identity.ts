import { type ExecFileSyncOptionsWithStringEncoding, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * When a process of this machine started, in a form that is only good for comparing;
 * undefined when there is no such process (a zombie is none: it will never write again).
 *
 * Pid and start time together name a process; a pid alone is soon reused.
 */
export function processStart(pid: number): string | undefined {
  const stat = readStat(pid)
  if (stat === 'no process') return undefined
  return stat === 'no /proc' ? startWithoutProc(pid) : startFromStat(stat)
}

function readStat(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return hasProc() ? 'no process' : 'no /proc'
  }
}

function hasProc(): boolean {
  try {
    return readFileSync('/proc/self/stat').length > 0
  } catch {
    return false
  }
}

/** The command's name is in parentheses and may hold anything, so fields are counted from the last one. */
function startFromStat(stat: string): string | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, startTicks] = [fields[0], fields[19]]
  return state === 'Z' || state === 'X' ? undefined : startTicks
}

function startWithoutProc(pid: number): string | undefined {
  try {
    const [state, ...start] = execFileSync('ps', ['-o', 'state=,lstart=', '-p', String(pid)], psOptions)
      .trim()
      .split(/\s+/)
    return state === undefined || state.startsWith('Z') ? undefined : start.join(' ')
  } catch {
    return undefined // ps found no such process
  }
}

const psOptions: ExecFileSyncOptionsWithStringEncoding = {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
  env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' }, // one spelling, whoever asks
}
