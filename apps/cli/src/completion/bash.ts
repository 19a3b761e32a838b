import type { CommandWords, OptionWords, ValueKind } from './words.js'

/**
 * Runs are found by their directories, for no process is started; one whose name a shell could take for more than a word
 * is none. Where no file is meant, the shell's own completion of files is turned off; a shell that has no compopt offers
 * them.
 */
const VALUES = `_delta_nothing() {
  compopt +o default 2> /dev/null
}
_delta_runs() {
  _delta_nothing
  local workspace=. runs=$DELTA_RUNS_DIR index file
  for ((index = 1; index < COMP_CWORD - 1; index++)); do
    case "\${COMP_WORDS[index]}" in
    -w | --work-dir) workspace=\${COMP_WORDS[index+1]//[\\\\\\"\\']/} ;;
    --runs-dir) runs=\${COMP_WORDS[index+1]//[\\\\\\"\\']/} ;;
    esac
  done
  for file in "\${runs:-$workspace/.delta}/$current"*/journal.jsonl; do
    [[ -e $file ]] || continue
    file=\${file%/journal.jsonl}
    file=\${file##*/}
    [[ $file == *[!A-Za-z0-9._-]* || $file == "$previous" ]] || COMPREPLY+=("$file")
  done
}
`

/** What fills in a value. With no reply the shell completes files by itself, and knows how to quote them. */
const REPLIES: Record<ValueKind, string> = { file: '', run: '_delta_runs', nothing: '_delta_nothing' }

export function bashScript(commands: readonly CommandWords[]): string {
  return `# bash completion of delta; load it with: source <(delta completion bash)
${VALUES}_delta() {
  COMPREPLY=()
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} path='' word
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD-1))}"; do
    case "$path $word" in
${indent(commands.filter(({ path }) => path).map(pathCase))}
    esac
  done
  case "$path $previous" in
${indent(commands.flatMap(valueCases))}
  esac
  local words='' options=''
  case "$path" in
${indent(commands.map(wordsCase))}
  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    case "$path" in
${indent(commands.flatMap(argumentCase))}
    esac
  fi
}
complete -o default -F _delta delta
`
}

/** From the path so far and one more word to the next path. */
function pathCase({ path }: CommandWords): string {
  const words = path.split(' ')
  const before = words.length > 1 ? ` ${words[0]}` : ''
  return `'${before} ${words.at(-1)}') path=' ${path}' ;;`
}

function valueCases({ path, options }: CommandWords): string[] {
  return options
    .filter(({ value }) => value !== undefined)
    .map(
      (option) => `${patternOf(path, option)}) ${[replyOf(option), 'return'].filter(Boolean).join('; ')} ;;`,
    )
}

function patternOf(path: string, { long, short }: OptionWords): string {
  return [long, ...(short ? [short] : [])].map((name) => `' ${path} ${name}'`).join('|')
}

function replyOf({ choices, value }: OptionWords): string {
  return choices.length > 0
    ? `COMPREPLY=($(compgen -W '${choices.join(' ')}' -- "$current"))`
    : REPLIES[value ?? 'file']
}

function argumentCase({ path, argument }: CommandWords): string[] {
  return argument === undefined || argument === 'file' ? [] : [`' ${path}') ${REPLIES[argument]} ;;`]
}

function wordsCase({ path, children, options }: CommandWords): string {
  const names = options.flatMap(({ long, short }) => (short ? [short, long] : [long]))
  const own = path === '' ? ['--help', '--version'] : ['--help']
  return `'${path && ` ${path}`}') words='${children.join(' ')}' options='${[...names, ...own].join(' ')}' ;;`
}

function indent(lines: readonly string[]): string {
  return lines.map((line) => `    ${line}`).join('\n')
}
