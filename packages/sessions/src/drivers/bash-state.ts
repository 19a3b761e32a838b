import type { Secrets } from '../environment.js'
import { quoteDouble, type Report } from './driver.js'
import {
  chooseVariables,
  directoryLines,
  type Listed,
  linesOf,
  parseListing,
  toDirectory,
  toJobs,
  toScript,
  toVariables,
  unsetLines,
} from './shell.js'

/** Kept in the environment alone, where each shell finds and corrects them. */
const ENVIRONMENT_ONLY = /^(?:PWD|OLDPWD|SHLVL)$/
/** Two options would lock the session: noexec, and onecmd, which ends the shell after one command. */
const LOCKING = ['noexec', 'onecmd']

const LONG = 64 * 1024

/**
 * Makes a report of what the program of `bash-program.ts` wrote. The state is a script of bash's own
 * listings, in an order in which each part can be read back.
 *
 * @param saved - What the program wrote, as latin1.
 * @returns undefined when it is not complete: the shell did not come to its end.
 * @throws {SyntaxError} It holds what bash does not print.
 */
export function readBashReport(saved: string, secrets: Secrets): Report | undefined {
  const [shell = '', listing = '', functions = '', attributes = '', aliases = '', cwd = '', jobs = '', done] =
    saved.split('\0')
  if (done !== 'done') return undefined
  const entries = parseListing(listing)
  const { kept, withheld } = chooseVariables(entries, { secrets, isExported })
  const [umask = '', ...disabled] = linesOf(shell)
  return {
    variables: toVariables(kept.filter(isExported)),
    withheld,
    workDirectory: toDirectory(cwd),
    jobs: toJobs(jobs),
    lost: [],
    own: toScript([
      umask,
      ...directoryLines(cwd),
      ...changedOptions(entries, 'shopt').map(([on, name]) => `shopt -${on ? 's' : 'u'} ${name}`),
      ...kept.filter(needsListing).map(declaration),
      ...unsetLines(entries),
      functions.replace(/\n$/, ''),
      ...linesOf(attributes).filter((line) => !line.startsWith('declare -f ')),
      ...linesOf(aliases),
      ...disabled,
      // Last: from "set -x" on, every line of the file would be printed when it is read.
      ...changedOptions(entries, 'set').map(([on, name]) => `set ${on ? '-' : '+'}o ${name}`),
    ]),
  }
}

/** Arrays cannot be exported, whatever their flags say. */
function isExported({ flags, value }: Listed): boolean {
  return flags.includes('x') && !/[aA]/.test(flags) && value !== undefined
}

/** A variable that is exported and nothing else is data, and is in the environment already. */
function needsListing(entry: Listed): boolean {
  return !ENVIRONMENT_ONLY.test(entry.name) && !(isExported(entry) && entry.flags === 'x')
}

/** bash's own line, unless it is a long one in quotes that take it long to read. */
function declaration({ text, flags, name, value }: Listed): string {
  const isSlow = text.length > LONG && value !== undefined && !/[aA]/.test(flags)
  return isSlow ? `declare -${flags} ${name}=${quoteDouble(value)}` : text
}

/** The options that are not as they were when the shell began: on or off, and the name. */
function changedOptions(entries: readonly Listed[], kind: 'shopt' | 'set'): [boolean, string][] {
  const options = (variable: string) => entries.find(({ name }) => name === variable)?.value?.split(':') ?? []
  const before = options(`__delta_${kind}_before`)
  const after = options(`__delta_${kind}`)
  const differ = (some: string[], others: string[], on: boolean): [boolean, string][] =>
    some.filter((name) => name !== '' && !others.includes(name)).map((name) => [on, name])
  return [...differ(after, [...before, ...LOCKING], true), ...differ(before, after, false)]
}
