import type { Variables } from './environment.js'

/** The longest `NAME=value` Linux gives to a program, without the NUL at its end. */
const LONGEST_ENTRY = 128 * 1024 - 1

/** Says which exported variables keep other programs from being started; empty when there are none. */
export function largeNotice(variables: Variables): string[] {
  if (process.platform !== 'linux') return []
  const large = [...variables].filter(([name, value]) => name.length + 1 + value.length > LONGEST_ENTRY)
  if (large.length === 0) return []
  const names = large.map(([name, value]) => `${name} (${value.length} bytes)`).join(', ')
  return [`Exported, but too large for the environment of other programs: ${names}. ${CONSEQUENCE}`]
}

/** Said when no single variable is to blame. */
export function totalNotice(variables: Variables): string {
  const bytes = [...variables].reduce((sum, [name, value]) => sum + name.length + value.length + 2, 0)
  return `The exported variables are too large together (${bytes} bytes) for the environment of other programs. ${CONSEQUENCE}`
}

const CONSEQUENCE =
  'The session keeps them, but programs fail to start ("Argument list too long") until they are unset, or no longer exported.'
