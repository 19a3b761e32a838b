import { bashScript } from './bash.js'
import type { CommandWords } from './words.js'

/** zsh understands completions of bash; so there is one script to keep right. */
export function zshScript(commands: readonly CommandWords[]): string {
  return `#compdef delta
# zsh completion of delta; load it with: source <(delta completion zsh)
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
autoload -Uz bashcompinit && bashcompinit
${bashScript(commands).replace(/^#.*\n/, '')}`
}
