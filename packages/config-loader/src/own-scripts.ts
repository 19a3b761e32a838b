import { existsSync } from 'node:fs'
import { join, normalize } from 'node:path'
import type { LoadedHooks } from './hooks.js'
import type { Findings } from './problems.js'
import { type Spot, sentenceOf } from './report.js'
import type { ToolSet } from './tools.js'

/**
 * Warns of hooks and tools that look for a script of the agent in the workspace, where relative paths start: `./guard.sh`, or
 * `sh guard.sh`.
 *
 * @param home - The agent's directory.
 */
export function warnOfOwnScripts(
  { tools, hooks }: { tools: ToolSet; hooks: LoadedHooks },
  home: string,
  findings: Findings,
): void {
  const check = (command: readonly string[], { file, path }: Omit<Spot, 'findings'>) => {
    const script = scriptOf(command)
    if (script === undefined || /^[-/~$]/.test(script) || !existsSync(join(home, script))) return
    const message = `"${script}" starts at the workspace, but lies in the agent's directory`
    findings.warn(
      file.locate(path),
      sentenceOf({ file, path }, message),
      `Write \${AGENT_HOME}/${normalize(script)}.`,
    )
  }
  for (const { tool, file, path } of tools.values()) {
    const key = tool.expanded.__meta?.syntax ?? 'command'
    if (tool.settings.cwd === undefined) check(tool.expanded.command, { file, path: [...path, key] })
  }
  const { file, base } = hooks
  if (file === undefined) return
  for (const [name, { command }] of Object.entries(hooks.hooks))
    check(command, { file, path: [...base, name, 'command'] })
}

const INTERPRETER = /^(?:(?:ba|da|z|k)?sh|python3?|node|perl|ruby)$/

/** The program if it is a path, or what an interpreter runs. */
function scriptOf([program = '', argument]: readonly string[]): string | undefined {
  if (INTERPRETER.test(program)) return argument
  return program.includes('/') ? program : undefined
}
