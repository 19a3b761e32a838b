import type { ExpandedTool } from '../tool.js'
import { findingAbout, type LintFinding } from './finding.js'
import type { LintOptions } from './options.js'

/** A program that is not there. */
export function commandNotFound({ command }: ExpandedTool, { commandExists }: LintOptions): LintFinding[] {
  const [program = ''] = command
  if (commandExists?.(program) !== false) return []
  return [findingAbout('command-not-found', 'command[0]', `${program} is not installed.`)]
}
