import { formatProblem } from '@delta/config-loader'
import { lintTool } from '@delta/tool-expander/lint'
import { commandFinder } from '../command-exists.js'
import { loadTools, type ToolFlags } from '../load-tools.js'
import { print } from '../present/print.js'
import { printable } from '../present/printable.js'
import { EXIT, type Terminal } from '../terminal.js'

interface Finding {
  /** Undefined for one about the file. */
  tool?: string
  rule: string
  message: string
}

/** `delta tool lint`: what a reviewer would ask about tools that load. Exit code 1 if there is anything. */
export async function execute(
  flags: ToolFlags & { json?: boolean },
  terminal: Terminal,
  path: string,
): Promise<number> {
  const { tools, warnings, agentHome } = await loadTools(path, flags, terminal)
  const findings: Finding[] = [
    ...warnings.map((warning) => ({
      rule: warning.deprecated ? 'deprecated' : 'file',
      message: formatProblem(warning),
    })),
    ...[...tools.values()].flatMap(({ expanded }) =>
      lintTool(expanded, {
        commandExists: commandFinder(agentHome, terminal.env),
        environment: terminal.env,
      }).map(({ rule, message, path: place }) => ({
        tool: expanded.name,
        rule,
        message: `${expanded.name}: ${place}: ${message} (${rule})`,
      })),
    ),
  ]
  if (flags.json) print(terminal, `${JSON.stringify(findings, null, 2)}\n`)
  else for (const { message } of findings) print(terminal, `${printable(message)}\n`)
  terminal.stderr.write(`${count(tools.size, 'tool')}, ${count(findings.length, 'finding')}\n`)
  return findings.length === 0 ? EXIT.completed : EXIT.failed
}

function count(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? '' : 's'}`
}
