import type { CommandWords, OptionWords } from './words.js'

export function bashScript(commands: readonly CommandWords[]): string {
  return `# bash completion of delta; load it with: source <(delta completion bash)
_delta() {
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
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _delta delta
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
    .filter(({ takesValue }) => takesValue)
    .map((option) => `${patternOf(path, option)}) ${replyOf(option)}; return ;;`)
}

function patternOf(path: string, { long, short }: OptionWords): string {
  return [long, ...(short ? [short] : [])].map((name) => `' ${path} ${name}'`).join('|')
}

function replyOf({ choices }: OptionWords): string {
  return choices.length > 0
    ? `COMPREPLY=($(compgen -W '${choices.join(' ')}' -- "$current"))`
    : 'COMPREPLY=($(compgen -f -- "$current"))'
}

function wordsCase({ path, children, options }: CommandWords): string {
  const names = options.flatMap(({ long, short }) => (short ? [short, long] : [long]))
  const own = path === '' ? ['--help', '--version'] : ['--help']
  return `'${path && ` ${path}`}') words='${children.join(' ')}' options='${[...names, ...own].join(' ')}' ;;`
}

function indent(lines: readonly string[]): string {
  return lines.map((line) => `    ${line}`).join('\n')
}
