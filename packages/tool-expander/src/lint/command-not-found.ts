import type { ExpandedTool } from '../tool.js'
import { findingAbout, type LintFinding } from './finding.js'
import type { LintOptions } from './options.js'

/** A program that is not there. */
export function commandNotFound({ command }: ExpandedTool, { commandExists }: LintOptions): LintFinding[] {
  const [program = ''] = command
  if (commandExists?.(program) !== false) return []
  return [findingAbout('command-not-found', 'command[0]', `${program} ${why(program)}`)]
}

/** Of a program that is named by its path, only the path tells where it should be. */
function why(program: string): string {
  return program.includes('/')
    ? 'is not a program that can be started: it is missing, or not executable (chmod +x).'
    : 'is not on the PATH. Install it, or write shell: if the shell does it itself, as with cd.'
}
