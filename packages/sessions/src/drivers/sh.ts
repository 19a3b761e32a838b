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
 * Any POSIX shell. It can list everything but its functions, so a session of it remembers the working
 * directory, variables, aliases, `set` options and the umask; `bash` remembers more.
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
 * Restores, sets the handler that saves, and runs the command from its file. A user's own exit handler
 * must not replace ours, but runs after it: `trap` becomes an alias, because POSIX lets no function
 * stand before it.
 */
function shProgram({ program, work, state, secretNames }: DriverCall, path: string): string {
  const source = (file: string) => `[ ! -r ${quote(file)} ] || . ${quote(file)}`
  const secrets = secretNames.map((name) => `"\${${name}+=$${name}}"`).join(' ')
  const putBack = secretNames.map(
    (name, index) => `[ -z "\${${index + 1}}" ] || export "${name}\${${index + 1}}"`,
  )
  return `${source(`${work}.variables`)}
__delta_work=${quote(work)} __delta_exit=
__delta_save() {
  unset -f command
  unset -v ${secretNames.join(' ')}
  command unalias trap
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
  ${putBack.join('\n  ')}
}
__delta_trap() {
  [ "\${1-}" != -- ] || shift
  if [ $# -lt 2 ]; then command trap "$@"; return; fi
  __delta_action=$1; shift
  for __delta_signal; do
    case $__delta_signal in
      0|EXIT) __delta_trap_exit ;;
      *) command trap -- "$__delta_action" "$__delta_signal" ;;
    esac
  done
}
# In a subshell it is the subshell's own; and only a child can tell where we are.
__delta_trap_exit() {
  if [ "$(exec ${quote(program)} -c 'echo $PPID')" = $$ ]; then
    __delta_exit=$__delta_action
    [ "$__delta_exit" != - ] || __delta_exit=
  else
    command trap -- "$__delta_action" EXIT
  fi
}
trap '{ __delta_code=$?; { set +o; set +aCefuvx; __delta_save ${secrets}; } >|"$__delta_work"; } 2>/dev/null
[ -z "$__delta_exit" ] || { (exit "$__delta_code"); \\eval "$__delta_exit"; }' EXIT
alias trap=__delta_trap
{ ${source(state)}; } 2>/dev/null
. ${quote(path)}`
}

/** Kept, they would end the session or ask for a terminal. */
const OPTION_NOT_KEPT = /^set -o (?:noexec|onecmd|interactive|stdin|monitor|privileged)$/

/**
 * Makes a report of what `shProgram` wrote.
 *
 * @param saved - What it wrote, as latin1.
 * @returns undefined when it is not complete: the shell did not come to its end.
 * @throws {SyntaxError} It holds what no shell prints.
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
