import type { ExpandedTool } from './tool.js'

/** Something a reviewer would ask about a tool that loads. */
export interface LintFinding {
  rule: 'no-description' | 'command-not-found'
  path: string
  message: string
}

export interface LintOptions {
  /** Whether a program exists; without it, commands are not looked for. */
  commandExists?: (program: string) => boolean
  /** Names set in the environment the tool will run in. */
  environment?: Readonly<Record<string, string | undefined>>
}

/** What a reviewer would ask about a tool. */
export function lintTool(tool: ExpandedTool, { commandExists }: LintOptions = {}): LintFinding[] {
  const findings: LintFinding[] = []
  if (tool.description === undefined) {
    findings.push({
      rule: 'no-description',
      path: 'description',
      message: 'The model learns only the name of this tool.',
    })
  }
  const program = tool.command[0] ?? ''
  if (commandExists?.(program) === false) {
    findings.push({ rule: 'command-not-found', path: 'command[0]', message: `${program} was not found.` })
  }
  return findings
}
