import type { Secrets, Variables } from '../environment.js'
import type { Listed } from './shell-listing.js'

/** What shells make themselves, and what is ours: never kept. */
const NOT_KEPT =
  /^(?:__delta_.*|_|BASH(?:OPTS|PID|_.*)?|COMP_WORDBREAKS|DIRSTACK|EPOCH(?:REALTIME|SECONDS)|EUID|FUNCNAME|GROUPS|HISTCMD|HOSTNAME|HOSTTYPE|LINENO|MACHTYPE|OPTERR|OPTIND|OSTYPE|PIPESTATUS|PPID|RANDOM|SECONDS|SHELLOPTS|SRANDOM|UID)$/
const DEFAULTS: Record<string, string> = { IFS: ' \t\n', PS1: '# ', PS2: '> ', PS4: '+ ' }

/** Of the variables a shell lists, those a session keeps, and the names of those it keeps no secret in. */
export function chooseVariables(
  entries: readonly Listed[],
  secrets: Secrets,
): { kept: Listed[]; withheld: string[] } {
  const known = entries.filter(
    ({ name, value = '' }) => !NOT_KEPT.test(name) && !secrets.names.has(name) && DEFAULTS[name] !== value,
  )
  const isSecret = ({ value = '' }: Listed) => secrets.isIn(value)
  return {
    kept: known.filter((entry) => !isSecret(entry)),
    withheld: known.filter(isSecret).map(({ name }) => name),
  }
}

/** Variables as data. */
export function toVariables(entries: readonly Listed[]): Variables {
  return new Map(
    entries.flatMap(({ name, value }) =>
      value === undefined ? [] : [[name, Buffer.from(value, 'latin1')] as const],
    ),
  )
}

/** IFS is the one variable without which a shell is not as it began. */
export function unsetLines(entries: readonly Listed[]): string[] {
  return entries.some(({ name }) => name === 'IFS') ? [] : ['unset IFS']
}

export function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '')
}

/** A script of some parts, in their order. */
export function toScript(parts: readonly string[]): Buffer {
  return Buffer.from(`${parts.filter((part) => part !== '').join('\n')}\n`, 'latin1')
}

/** What `pwd` printed. */
export function toDirectory(line: string): string {
  return Buffer.from(line.replace(/\n$/, ''), 'latin1').toString('utf8')
}
