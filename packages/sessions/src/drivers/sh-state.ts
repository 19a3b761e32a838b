import type { Secrets } from '../environment.js'
import type { Report } from './driver.js'
import {
  chooseVariables,
  directoryLines,
  linesOf,
  parseListing,
  toDirectory,
  toJobs,
  toScript,
  toVariables,
  unsetLines,
} from './shell.js'

/** Kept, they would end the session or ask for a terminal. */
const OPTION_NOT_KEPT = /^set -o (?:noexec|onecmd|interactive|stdin|monitor|privileged)$/

/**
 * Makes a report of what the program of `sh.ts` wrote.
 *
 * @param saved - What it wrote, as latin1.
 * @returns undefined when it is not complete: the shell did not come to its end.
 * @throws {SyntaxError} It holds what no shell prints.
 */
export function readShReport(saved: string, secrets: Secrets): Report | undefined {
  const [shell = '', exports = '', listing = '', aliases = '', cwd = '', jobs = '', done] = saved.split('\0')
  if (done !== 'done') return undefined
  const exported = parseListing(exports)
  const names = new Set(exported.map(({ name }) => name))
  const all = parseListing(listing)
  const environment = chooseVariables(exported, { secrets, isExported: () => true })
  const others = chooseVariables(
    all.filter(({ name }) => !names.has(name)),
    { secrets, isExported: () => false },
  )
  const options = linesOf(shell)
  return {
    variables: toVariables(environment.kept),
    withheld: [...environment.withheld, ...others.withheld],
    workDirectory: toDirectory(cwd),
    jobs: toJobs(jobs),
    lost: [],
    own: toScript([
      `umask ${options.pop() ?? '022'}`,
      ...directoryLines(cwd),
      ...environment.kept.filter(({ value }) => value === undefined).map(({ text }) => text),
      ...others.kept.map(({ text }) => text),
      ...unsetLines(all),
      ...parseListing(aliases).map(({ text }) => `alias ${text.replace(/^alias /, '')}`),
      ...options.filter((line) => line.startsWith('set -o ') && !OPTION_NOT_KEPT.test(line)),
    ]),
  }
}
