import { quoteForPerson } from '@delta/executor'
import type { Command } from 'commander'
import type { CommandEntry } from '../table/entry.js'
import type { Terminal } from '../terminal/terminal.js'
import { spokenName } from '../usage/spoken-name.js'
import { isWorkspace } from '../workspace/known-workspaces.js'
import { workspaceNear } from '../workspace/workspace-near.js'
import { withMeantOption } from './meant-option.js'
import { whereItGoes } from './where-it-goes.js'

/** Adds what was probably meant to the parser's complaints about a command. */
export function withHints(
  { name, arguments: positional = [], options = [] }: CommandEntry,
  parsed: Command,
  terminal: Terminal,
): (text: string, write: (text: string) => void) => void {
  const command = [...spokenName(terminal.env), ...name.split(' ')]
  const tooMany = () => whereItGoes(parsed.args[0] ?? '', { command, cwd: terminal.cwd })
  const hints: [RegExp, () => string][] = [
    [/too many arguments/, () => (positional.length === 0 ? tooMany() : '')],
    [/required option '-w/, () => whichWorkspace(command, terminal)],
  ]
  return (text, write) =>
    write(
      withMeantOption(text, options) +
        hints.map(([fault, hint]) => (fault.test(text) ? hint() : '')).join(''),
    )
}

/** Suggests the current directory if it is a workspace, otherwise the one last used here or the nearest above. */
function whichWorkspace(command: readonly string[], { cwd, env, argv }: Terminal): string {
  if (isWorkspace(cwd, env)) return `For this directory: ${command.join(' ')} -w .\n`
  const near = workspaceNear('.', { cwd, env })
  if (near === undefined) return ''
  const typed = quoteForPerson([...command, '-w', near.workspace, ...argv.slice(1)])
  return `For the workspace ${near.isAbove ? 'this directory is in' : 'last used here'}: ${typed}\n`
}
