import type { Variables } from '../environment.js'
import { writePrivately } from '../store.js'
import type { DriverCall } from './driver.js'

/** They would change how a shell itself starts, so they are set only once it runs. */
const SET_LATE = new Set(['BASH_ENV', 'ENV', 'POSIXLY_CORRECT'])
/** Read-only in a shell, and made anew by each. */
const NOT_SET = new Set(['BASHOPTS', 'SHELLOPTS'])
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

export interface LaunchEnvironment {
  env: Record<string, string>
  /** What the process must set for itself. */
  late: Variables
}

/**
 * Splits variables into those a process can be started with, and the others: Node can pass on only
 * text, and a value need not be valid UTF-8; and the system passes on only so much.
 */
export function launchEnvironment({
  variables,
  room,
}: Pick<DriverCall, 'variables' | 'room'>): LaunchEnvironment {
  const env: Record<string, string> = {}
  const late: Variables = new Map()
  let used = 0
  for (const [name, value] of bySize(variables)) {
    if (NOT_SET.has(name)) continue
    const text = value.toString('utf8')
    used += name.length + value.length + 2
    if (!SET_LATE.has(name) && used <= room && Buffer.from(text).equals(value)) env[name] = text
    else late.set(name, value)
  }
  return { env, late }
}

function bySize(variables: Variables): [string, Buffer][] {
  return [...variables].sort(([, a], [, b]) => a.length - b.length)
}

/**
 * The same for a shell: what it must set for itself becomes a script.
 *
 * @returns the script's path, if there is one.
 */
export function shellEnvironment(call: DriverCall): {
  env: Record<string, string>
  script: string | undefined
} {
  const { env, late } = launchEnvironment(call)
  const lines = [...late]
    .filter(([name]) => NAME.test(name))
    .map(([name, value]) => `export ${name}=${quoteDouble(value.toString('latin1'))}\n`)
  if (lines.length === 0) return { env, script: undefined }
  const script = `${call.work}.variables`
  writePrivately(script, Buffer.from(lines.join(''), 'latin1'))
  return { env, script }
}

/**
 * Bytes, as latin1, as one word of a shell. In double quotes, which bash reads in time that grows with the length;
 * for some megabytes of apostrophes in any others it takes minutes.
 */
export function quoteDouble(bytes: string): string {
  return `"${bytes.replaceAll(/[\\"$`]/g, '\\$&')}"`
}

/** A text as one word of a shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
