import type { CompletionShell } from '../table/shells.js'
import { bashScript } from './bash.js'
import { fishScript } from './fish.js'
import { completionWords } from './words.js'
import { zshScript } from './zsh.js'

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript }

/** A script that a shell sources to complete `delta`. It starts no process while completing. */
export function completionScript(shell: CompletionShell): string {
  return SCRIPTS[shell](completionWords())
}
