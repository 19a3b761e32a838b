import { readFileSync } from 'node:fs'
import { replaceFile } from '@delta/durable'
import type { Secrets } from '../state.js'
import type { Driver, DriverCall, Launch, Report } from './driver.js'
import {
  chooseVariables,
  linesOf,
  parseListing,
  quote,
  shellEnvironment,
  shellReport,
  unsetLines,
} from './shell.js'

/**
 * Any POSIX shell, for images without bash: Alpine, busybox. It can list everything but its functions, so a session of it
 * remembers the working directory, variables, aliases, `set` options and the umask; `bash` remembers more.
 */
export const sh: Driver = {
  stateFile: 'state.sh',

  prepare(call: DriverCall): Launch {
    const path = `${call.work}.command`
    replaceFile(path, call.command, { sync: false })
    return { argv: [call.program, '-c', shProgram(call, path), 'sh'], env: shellEnvironment(call) }
  },

  collect: (work, secrets) => readShReport(readFileSync(work, 'latin1'), secrets),

  check: (program, stateFile) => [program, '-n', stateFile],
}

/**
 * Restores the state, sets the handler that saves, and runs the command from its file. A command's own exit handler replaces
 * that handler, because in POSIX no function can replace `trap`: such a command is not remembered, and its result says so.
 */
function shProgram({ work, state, secretNames }: DriverCall, path: string): string {
  const source = (file: string) => `[ ! -r ${quote(file)} ] || . ${quote(file)}`
  return `${source(`${work}.variables`)}
__delta_work=${quote(work)}
__delta_save() {
  unset -f command
  unset -v ${secretNames.join(' ')}
  command umask
  command printf '\\0'
  export -p
  command printf '\\0'
  set
  command printf '\\0'
  command alias
  command printf '\\0'
  command pwd
  command printf '\\0'
  command jobs -l
  command printf '\\0done'
}
trap '{ set +o; set +aCefuvx; __delta_save; } 2>/dev/null >|"$__delta_work"' EXIT
{ ${source(state)}; } 2>/dev/null
. ${quote(path)}`
}

/** Options that would end the session or need a terminal. */
const OPTION_NOT_KEPT = /^set -o (?:noexec|onecmd|interactive|stdin|monitor|privileged)$/

/**
 * Makes a report of what `shProgram` wrote.
 *
 * @param saved - The work file, as latin1.
 * @returns undefined when it is not complete: the shell was killed before its end.
 * @throws {SyntaxError} A part is not a listing that a shell prints.
 */
function readShReport(saved: string, secrets: Secrets): Report | undefined {
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
  return shellReport({
    exported: environment.kept,
    withheld: [...environment.withheld, ...others.withheld],
    cwd,
    jobs,
    script: [
      `umask ${options.pop() ?? '022'}`,
      ...environment.kept.filter(({ value }) => value === undefined).map(({ text }) => text),
      ...others.kept.map(({ text }) => text),
      ...unsetLines(all),
      ...parseListing(aliases).map(({ text }) => `alias ${text.replace(/^alias /, '')}`),
      ...options.filter((line) => line.startsWith('set -o ') && !OPTION_NOT_KEPT.test(line)),
    ],
  })
}
