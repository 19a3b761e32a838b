import type { Command } from 'commander'
import { createProgram } from '../program.js'
import { EXIT, type Terminal } from '../terminal.js'
import { print } from '../text.js'

type Shell = 'bash' | 'zsh' | 'fish'

/** `delta completion <shell>`: a script that asks `delta completion-words` at each Tab; where that says nothing, the shell offers files. */
export async function execute(_flags: object, terminal: Terminal, shell: Shell): Promise<number> {
  print(terminal, SCRIPTS[shell])
  return EXIT.completed
}

const BASH = `_delta() {
  local IFS=$'\\n'
  COMPREPLY=($(delta completion-words -- "\${COMP_WORDS[@]:1:$COMP_CWORD}" 2> /dev/null))
}
complete -o default -F _delta delta
`

const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# bash completion of delta; load it with: source <(delta completion bash)\n${BASH}`,
  zsh: `#compdef delta
# zsh completion of delta; load it with: source <(delta completion zsh)
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
autoload -Uz bashcompinit && bashcompinit
${BASH}`,
  fish: `# fish completion of delta; load it with: delta completion fish | source
function __delta_words
  delta completion-words -- (commandline -opc)[2..-1] (commandline -ct) 2> /dev/null
end
complete -c delta -f -n '__delta_words | count > /dev/null' -a '(__delta_words)'
`,
}

/** `delta completion-words …`: what can stand in place of the last of these words, one a line. */
export function printWords(terminal: Terminal, words: readonly string[]): void {
  const [current = '', before = ''] = [words.at(-1), words.at(-2)]
  let command = createProgram(terminal)
  for (const word of words.slice(0, -1))
    command = command.commands.find((each) => each.name() === word) ?? command
  const option = command.options.find(
    ({ required, short, long }) => required && [short, long].includes(before),
  )
  for (const word of option ? (option.argChoices ?? []) : wordsOf(command, current))
    if (word.startsWith(current)) print(terminal, `${word}\n`)
}

function wordsOf(command: Command, current: string): string[] {
  if (current.startsWith('-'))
    return [...command.options.filter(({ hidden }) => !hidden).map(({ long }) => long ?? ''), '--help']
  const below = command.createHelp().visibleCommands(command)
  return [...below.map((each) => each.name()), ...(command.registeredArguments[0]?.argChoices ?? [])]
}
