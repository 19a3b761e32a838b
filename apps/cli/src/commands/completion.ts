import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Command, Option } from 'commander'
import { print } from '../present/print.js'
import { createProgram } from '../program.js'
import { EXIT, type Terminal } from '../terminal/terminal.js'

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
  const typed = words.map((word) => word.replaceAll(/[\\"']/g, '')) // bash passes them as they are typed
  const [current = '', before = ''] = [typed.at(-1), typed.at(-2)]
  const { command, given } = commandIn(createProgram(terminal), typed.slice(0, -1))
  const option = command.options.find((each) => isCalled(each, before))
  const offered = option
    ? (option.argChoices ?? (option.long === '--run-id' ? runIds(typed, terminal) : []))
    : current.startsWith('-')
      ? [...command.options.filter(({ hidden }) => !hidden).map(({ long }) => long ?? ''), '--help']
      : [...namesBelow(command), ...argumentsOf(command, given, () => runIds(typed, terminal))]
  for (const word of offered) if (word.startsWith(current)) print(terminal, `${word}\n`)
}

/** The command that these words name, and how many arguments of it follow. */
function commandIn(program: Command, words: readonly string[]): { command: Command; given: number } {
  let command = program
  let given = 0
  for (const [index, word] of words.entries()) {
    const next = command.commands.find((each) => each.name() === word)
    const isValue = command.options.some((option) => isCalled(option, words[index - 1]))
    if (next) command = next
    else if (!word.startsWith('-') && !isValue) given += 1
  }
  return { command, given }
}

/** True for a name of an option that takes a value. */
function isCalled({ required, short, long }: Option, word: string | undefined): boolean {
  return required && word !== undefined && (word === short || word === long)
}

function namesBelow(command: Command): string[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((each) => each.name())
}

function argumentsOf(command: Command, given: number, runs: () => string[]): string[] {
  const argument = command.registeredArguments[given]
  return argument?.name() === 'run' ? runs() : (argument?.argChoices ?? [])
}

/** The directories of runs in the place that the line names; a name that a shell could take for more than a word is left out. */
function runIds(words: readonly string[], { cwd, env }: Terminal): string[] {
  const after = (...names: string[]) => words.find((_, index) => names.includes(words[index - 1] ?? ''))
  const runs = after('--runs-dir') ?? env.DELTA_RUNS_DIR
  try {
    const directory = resolve(cwd, runs || join(after('-w', '--work-dir') ?? '.', '.delta'))
    return readdirSync(directory).filter((name) => /^\d[\w.-]*$/.test(name))
  } catch {
    return []
  }
}
