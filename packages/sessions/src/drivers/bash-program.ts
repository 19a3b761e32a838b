/** Where the program finds what belongs to one command; unset before the command runs. */
export const WORK_VARIABLE = '__delta_work'
export const STATE_VARIABLE = '__delta_state'

/**
 * The script bash reads (as BASH_ENV) before the command: restores, and saves when the shell exits,
 * however it does. The command itself is bash's own `-c` argument, so its line numbers and its
 * messages are those of any other bash. Every name of ours begins with `__delta_`. The script is the
 * same for every command of a session.
 *
 * @param secretNames - Variables that are never saved.
 */
export function bashProgram(secretNames: readonly string[]): string {
  const hidden = secretNames.map((name) => `|${name}`).join('')
  return `
unset BASH_ENV
export -n __delta_work __delta_state
shopt -s expand_aliases
__delta_shopt_base=$BASHOPTS __delta_set_base=$SHELLOPTS __delta_exit=

__delta_save() {
  builtin umask -p >"$__delta_work/state"
  builtin umask 077
  __delta_ifs=\${IFS-unset} IFS=$' \\t\\n'
  builtin unset -f __delta_save trap
  __delta_list_set
  {
    __delta_report_variables
    builtin printf '=cwd='
    builtin pwd
    builtin printf '\\0=jobs='
    builtin jobs -l
    builtin printf '\\0'
  } >"$__delta_work/report"
  {
    __delta_print_shopt
    [[ \${#__delta_names[@]} == 0 ]] || builtin declare -p "\${__delta_names[@]}"
    if [[ $__delta_ifs == unset ]]; then builtin printf 'unset IFS\\n'
    elif [[ $__delta_ifs != $' \\t\\n' ]]; then builtin printf 'IFS=%q\\n' "$__delta_ifs"; fi
    builtin declare -f
    builtin export -fp
    builtin alias -p
    # Last: from "set -x" on, every line of the file would be printed when it is read.
    builtin printf '%s' "$__delta_options"
  } >>"$__delta_work/state"
  builtin printf '=done=\\0' >>"$__delta_work/report"
}

__delta_print_shopt() {
  builtin unset -f __delta_print_shopt
  for __delta_name in \${BASHOPTS//:/ }; do
    [[ :$__delta_shopt_base: == *:$__delta_name:* ]] || builtin printf 'shopt -s %s\\n' "$__delta_name"
  done
  for __delta_name in \${__delta_shopt_base//:/ }; do
    [[ :$BASHOPTS: == *:$__delta_name:* ]] || builtin printf 'shopt -u %s\\n' "$__delta_name"
  done
}

# Exported variables are data, and reported; the names of the others are collected, because bash can
# list those itself, with their attributes. Both lists of names are sorted.
__delta_report_variables() {
  builtin unset -f __delta_report_variables
  { builtin compgen -e; builtin printf '=\\n'; builtin compgen -v; } >"$__delta_work/names"
  __delta_read_lines
  __delta_names=() __delta_pairs=() __delta_index=0 __delta_all=
  for __delta_name in "\${__delta_lines[@]}"; do
    if [[ -z $__delta_all ]]; then
      [[ $__delta_name != = ]] || __delta_all=yes
    elif [[ $__delta_name == "\${__delta_lines[__delta_index]}" ]]; then
      __delta_index=$((__delta_index + 1))
      case $__delta_name in
        __delta_*|_${hidden}) ;;
        *) [[ -z \${!__delta_name+set} ]] || __delta_pairs+=("$__delta_name" "\${!__delta_name}") ;;
      esac
    else
      case $__delta_name in
        __delta_*|BASH|BASHOPTS|BASHPID|BASH_*|_|COMP_WORDBREAKS|DIRSTACK|EPOCHREALTIME|EPOCHSECONDS|EUID) ;;
        FUNCNAME|GROUPS|HISTCMD|HOSTNAME|HOSTTYPE|IFS|LINENO|MACHTYPE|OLDPWD|OPTERR|OPTIND|OSTYPE|PIPESTATUS) ;;
        PPID|PWD|RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|UID${hidden}) ;;
        PS4) [[ $PS4 == '+ ' ]] || __delta_names+=(PS4) ;;
        *) __delta_names+=("$__delta_name") ;;
      esac
    fi
  done
  # In one go: bash writes to the file after every command.
  [[ \${#__delta_pairs[@]} == 0 ]] || builtin printf '%s=%s\\0' "\${__delta_pairs[@]}"
}

# bash 3, which macOS has, knows no mapfile.
__delta_read_lines() {
  builtin unset -f __delta_read_lines
  if type mapfile >/dev/null 2>&1; then
    builtin mapfile -t __delta_lines <"$__delta_work/names"
  else
    __delta_lines=()
    while IFS= read -r __delta_name; do __delta_lines+=("$__delta_name"); done <"$__delta_work/names"
  fi
}

# Two options would lock the session: noexec, and onecmd, which ends the shell after one command.
__delta_list_set() {
  builtin unset -f __delta_list_set
  __delta_options=
  for __delta_name in \${__delta_set//:/ }; do
    [[ :$__delta_set_base:noexec:onecmd: == *:$__delta_name:* ]] ||
      builtin printf -v __delta_options '%sset -o %s\\n' "$__delta_options" "$__delta_name"
  done
  for __delta_name in \${__delta_set_base//:/ }; do
    [[ :$__delta_set: == *:$__delta_name:* ]] ||
      builtin printf -v __delta_options '%sset +o %s\\n' "$__delta_options" "$__delta_name"
  done
}

# The shell's own exit handler is ours; a user's runs after it. The last thing this does may be to
# set a trap, because a DEBUG trap would already see whatever followed.
trap() {
  if [[ $BASH_SUBSHELL == 0 && $1 != -[lp] && ( " $* " == *' EXIT '* || " $* " == *' 0 '* ) ]]; then
    [[ $1 != -- ]] || shift
    __delta_exit=$1
    for __delta_name in "\${@:2}"; do
      [[ $__delta_name == EXIT || $__delta_name == 0 ]] || builtin trap -- "$__delta_exit" "$__delta_name"
    done
    [[ $__delta_exit != - ]] || __delta_exit=
  else
    builtin trap "$@"
  fi
}

# First undone is what the user may have set that would show, or get in the way of, what follows.
builtin trap '{ __delta_code=$? __delta_set=$SHELLOPTS; builtin trap - DEBUG ERR RETURN; set +aCefnuvx; } >/dev/null 2>&1
{ __delta_save; } 2>/dev/null
[[ -z $__delta_exit ]] || { (exit "$__delta_code"); eval "$__delta_exit"; }' EXIT

# Only now: POSIXLY_CORRECT would forbid the function above.
[[ ! -r $__delta_work/variables.sh ]] || . "$__delta_work/variables.sh"
[[ ! -r $__delta_state ]] || . "$__delta_state" 2>/dev/null
`
}
