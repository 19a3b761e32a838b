import type { Secrets, Variables } from '../environment.js'
import { quote } from './driver.js'
import type { Listed } from './shell-listing.js'

/** Ours, and what no shell takes from its environment: never kept. */
const NEVER_KEPT = /^(?:__delta_.*|_|BASHOPTS|EUID|PPID|SHELLOPTS|UID)$/
/** What shells make themselves: kept only if the user exported it. */
const MADE_ANEW =
  /^(?:BASH(?:PID|_.*)?|COMP_WORDBREAKS|DIRSTACK|EPOCH(?:REALTIME|SECONDS)|FUNCNAME|GROUPS|HISTCMD|HOSTNAME|HOSTTYPE|LINENO|MACHTYPE|OPTERR|OPTIND|OSTYPE|PIPESTATUS|RANDOM|SECONDS|SRANDOM)$/
const DEFAULTS: Record<string, string> = { IFS: ' \t\n', PS1: '# ', PS2: '> ', PS4: '+ ' }

/** Of the variables a shell lists, those a session keeps, and the names of those it keeps no secret in. */
export function chooseVariables(
  entries: readonly Listed[],
  { secrets, isExported }: { secrets: Secrets; isExported: (entry: Listed) => boolean },
): { kept: Listed[]; withheld: string[] } {
  const known = entries.filter((entry) => {
    const { name, value } = entry
    if (NEVER_KEPT.test(name) || secrets.names.has(name)) return false
    return isExported(entry) || (!MADE_ANEW.test(name) && (value === undefined || DEFAULTS[name] !== value))
  })
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
  return bytesOfDirectory(line).toString('utf8')
}

/** What `jobs` printed. */
export function toJobs(listing: string): string {
  return Buffer.from(listing, 'latin1').toString('utf8')
}

/** A process can only be started in a directory whose name is text; into any other the shell goes by itself. */
export function directoryLines(line: string): string[] {
  const bytes = bytesOfDirectory(line)
  return Buffer.from(bytes.toString('utf8')).equals(bytes) ? [] : [`cd ${quote(bytes.toString('latin1'))}`]
}

function bytesOfDirectory(line: string): Buffer {
  return Buffer.from(line.replace(/\n$/, ''), 'latin1')
}
