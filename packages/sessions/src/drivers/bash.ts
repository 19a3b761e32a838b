import { readFileSync } from 'node:fs'
import { replaceFile } from '@delta/durable'
import type { Secrets } from '../state.js'
import type { Driver, DriverCall, Launch, Report } from './driver.js'
import {
  chooseVariables,
  type Listed,
  linesOf,
  parseListing,
  quote,
  shellEnvironment,
  shellReport,
  unsetLines,
} from './shell.js'

/** The kernel takes 128 KB in one argument; longer commands go through a file. */
const MAX_ARGUMENT_BYTES = 100_000

/**
 * Remembers the working directory, the environment, unexported variables with their attributes,
 * functions, aliases, `shopt` and `set` options, disabled builtins and the umask.
 */
export const bash: Driver = {
  stateFile: 'state.bash',

  prepare(call: DriverCall): Launch {
    const { program, command, work } = call
    const script = `${work}.program`
    replaceFile(script, bashProgram(call), { sync: false })
    return {
      argv: [program, '--noprofile', '--norc', ...commandArguments(command, work)],
      env: { ...shellEnvironment(call), BASH_ENV: quote(script).slice(1, -1) }, // bash expands it as within double quotes
    }
  },

  collect: (work, secrets) => readBashReport(readFileSync(work, 'latin1'), secrets),

  check: (program, stateFile) => [program, '--noprofile', '--norc', '-O', 'extglob', '-n', stateFile],
}

function commandArguments(command: string, work: string): string[] {
  if (Buffer.byteLength(command) < MAX_ARGUMENT_BYTES) return ['-c', '--', command, 'bash']
  const path = `${work}.command`
  replaceFile(path, command, { sync: false })
  return ['-c', '. "$0"', path]
}

/**
 * The script that bash reads (as BASH_ENV) before the command. It restores the state, and saves it when the shell exits,
 * in whatever way. The command itself is bash's own `-c` argument, so its line numbers and messages are those of
 * any other bash. All our names begin with `__delta_`.
 *
 * To save, it lets bash list everything, without a loop or another process. `readBashReport` selects from that.
 */
function bashProgram({ work, state, secretNames }: DriverCall): string {
  const source = (path: string) => `[[ ! -r ${quote(path)} ]] || . ${quote(path)}`
  const secrets = secretNames.map((name) => `"\${${name}+=$${name}}"`).join(' ')
  const putBack = secretNames.map(
    (name, index) => `[[ -z \${${index + 1}} ]] || builtin export "${name}\${${index + 1}}"`,
  )
  return `
unset BASH_ENV
__delta_work=${quote(work)}
shopt -s expand_aliases
__delta_shopt_before=$BASHOPTS __delta_set_before=$SHELLOPTS __delta_exit=

# Meanwhile secrets are arguments, which appear in no listing.
__delta_save() {
  builtin unset -f __delta_save trap
  builtin unset -v ${secretNames.join(' ')}
  {
    builtin umask -p
    builtin enable -n
    builtin enable umask declare alias pwd jobs printf export
    builtin printf '\\0'
    builtin declare -p
    builtin printf '\\0'
    builtin declare -f
    builtin printf '\\0'
    builtin declare -F
    builtin printf '\\0'
    builtin alias -p
    builtin printf '\\0'
    builtin pwd
    builtin printf '\\0'
    builtin jobs -l
    builtin printf '\\0done'
  } >|"$__delta_work"
  ${putBack.join('\n  ')}
}

# The shell's own exit handler is ours; a user's runs after it. To set a trap must be the last thing
# this does, because a DEBUG trap would see any command after it.
trap() {
  [[ \${1-} != -- ]] || shift
  if [[ $BASH_SUBSHELL == 0 && \${1-} != -[lpP] ]]; then
    [[ $# != 1 ]] || set -- - "$1"
    __delta_others=()
    for __delta_name in "\${@:2}"; do
      case $__delta_name in
        0|[Ee][Xx][Ii][Tt]) __delta_exit=\${1#-} ;;
        *) __delta_others+=("$__delta_name") ;;
      esac
    done
    (($# < 2)) || set -- "$1" "\${__delta_others[@]}"
    [[ $# != 1 ]] || return 0
  fi
  builtin trap "$@"
}

# First it resets what the user may have set that would show, or disturb, what follows. In POSIX mode
# no function can replace unset and set; with their help no function replaces builtin.
builtin trap '{
  __delta_code=$? __delta_set=$SHELLOPTS __delta_shopt=$BASHOPTS __delta_posix=\${POSIXLY_CORRECT+set}
  POSIXLY_CORRECT=\${POSIXLY_CORRECT-}
  \\unset -f builtin
  \\builtin trap - DEBUG ERR RETURN
  \\set +aCefnuvx
  [[ $__delta_posix ]] || \\unset -v POSIXLY_CORRECT
  __delta_save ${secrets}
} >/dev/null 2>&1
__delta_user=$__delta_exit __delta_exit=
[[ -z $__delta_user ]] || { (\\exit "$__delta_code"); \\eval "$__delta_user"; }' EXIT

# Last, because POSIXLY_CORRECT would forbid the function above.
${source(`${work}.variables`)}
${source(state)} 2>/dev/null
`
}

/** Variables kept only in the environment, where each shell finds and corrects them. */
const ENVIRONMENT_ONLY = /^(?:PWD|OLDPWD|SHLVL)$/
/** Options that would lock the session: noexec, and onecmd, which ends the shell after one command. */
const LOCKING = ['noexec', 'onecmd']

/**
 * Makes a report of what `bashProgram` wrote. The state is a script of bash's own
 * listings, in an order in which each part can be read back.
 *
 * @param saved - The work file, as latin1.
 * @returns undefined when it is not complete: the shell was killed before its end.
 * @throws {SyntaxError} A part is not a listing that bash prints.
 */
function readBashReport(saved: string, secrets: Secrets): Report | undefined {
  const [shell = '', listing = '', functions = '', attributes = '', aliases = '', cwd = '', jobs = '', done] =
    saved.split('\0')
  if (done !== 'done') return undefined
  const entries = parseListing(listing)
  const { kept, withheld } = chooseVariables(entries, { secrets, isExported })
  const [umask = '', ...disabled] = linesOf(shell)
  return shellReport({
    exported: kept.filter(isExported),
    withheld,
    cwd,
    jobs,
    script: [
      umask,
      ...changedOptions(entries, 'shopt').map(([on, name]) => `shopt -${on ? 's' : 'u'} ${name}`),
      ...kept.filter(needsListing).map(declaration),
      ...unsetLines(entries),
      functions.replace(/\n$/, ''),
      ...linesOf(attributes).filter((line) => !line.startsWith('declare -f ')),
      ...linesOf(aliases),
      ...disabled,
      // Last: from "set -x" on, every line of the file would be printed when it is read.
      ...changedOptions(entries, 'set').map(([on, name]) => `set ${on ? '-' : '+'}o ${name}`),
    ],
  })
}

/** Arrays cannot be exported, whatever their flags say. */
function isExported({ flags, value }: Listed): boolean {
  return flags.includes('x') && !/[aA]/.test(flags) && value !== undefined
}

/** False for a variable whose only attribute is that it is exported: the environment has it already. */
function needsListing(entry: Listed): boolean {
  return !ENVIRONMENT_ONLY.test(entry.name) && !(isExported(entry) && entry.flags === 'x')
}

const SLOW_LENGTH = 64 * 1024

/** bash's own line; a long one in the quotes that bash reads fast. */
function declaration({ text, flags, name, value }: Listed): string {
  const isSlow = text.length > SLOW_LENGTH && value !== undefined && !/[aA]/.test(flags)
  return isSlow ? `declare -${flags} ${name}=${quote(value)}` : text
}

/** The options that changed since the shell began: on or off, and the name. */
function changedOptions(entries: readonly Listed[], kind: 'shopt' | 'set'): [boolean, string][] {
  const options = (variable: string) => entries.find(({ name }) => name === variable)?.value?.split(':') ?? []
  const before = options(`__delta_${kind}_before`)
  const after = options(`__delta_${kind}`)
  const differ = (some: string[], others: string[], on: boolean): [boolean, string][] =>
    some.filter((name) => name !== '' && !others.includes(name)).map((name) => [on, name])
  return [...differ(after, [...before, ...LOCKING], true), ...differ(before, after, false)]
}
