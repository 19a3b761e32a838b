import { completionScript } from '../completion/script.js'
import { print } from '../present/print.js'
import type { CompletionShell } from '../table/shells.js'
import { EXIT, type Terminal } from '../terminal/terminal.js'

/** `delta completion`: a script for a shell, made from the same table as the parser. */
export async function execute(_flags: object, terminal: Terminal, shell: CompletionShell): Promise<number> {
  print(terminal, completionScript(shell))
  return EXIT.completed
}
