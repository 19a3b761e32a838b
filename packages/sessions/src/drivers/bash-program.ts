/** Where the program finds what belongs to one command; not exported while the command runs. */
export const WORK_VARIABLE = '__delta_work'
export const STATE_VARIABLE = '__delta_state'

/**
 * The script bash reads (as BASH_ENV) before the command: restores, and saves when the shell exits,
 * however it does. The command itself is bash's own `-c` argument, so its line numbers and its
 * messages are those of any other bash. Every name of ours begins with `__delta_`. The script is the
 * same for every command of a session.
 *
 * It saves by letting bash list everything, without a loop and without another process; to choose from
 * that is the business of `bash-state.ts`.
 *
 * @param secretNames - Variables that are never saved.
 */
export function bashProgram(secretNames: readonly string[]): string {
  const secrets = secretNames.map((name) => `"\${${name}+=$${name}}"`).join(' ')
  const putBack = secretNames.map(
    (name, index) => `[[ -z \${${index + 1}} ]] || builtin export "${name}\${${index + 1}}"`,
  )
  return `
unset BASH_ENV
export -n __delta_work __delta_state
shopt -s expand_aliases
__delta_shopt_before=$BASHOPTS __delta_set_before=$SHELLOPTS __delta_exit=

# Secrets are arguments meanwhile, because those appear in no listing.
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

# The shell's own exit handler is ours; a user's runs after it. The last thing this does may be to
# set a trap, because a DEBUG trap would already see whatever followed.
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

# First undone is what the user may have set that would show, or get in the way of, what follows. In
# POSIX mode no function can stand before unset and set; with their help none stands before builtin.
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

# Only now: POSIXLY_CORRECT would forbid the function above.
[[ ! -r $__delta_work.variables ]] || . "$__delta_work.variables"
[[ ! -r $__delta_state ]] || . "$__delta_state" 2>/dev/null
`
}
