import { formatProblem } from '@delta/config-loader/internal'
import { formatProblem as formatInTemplate, type Problem } from '@delta/tool-expander'
import { type LintFinding, lintTool } from '@delta/tool-expander/lint'
import { loadTools, type ToolFlags } from '../agent/load-agent.js'
import { commandFinder } from '../own-commands.js'
import { counted, print, printable, printJson, say } from '../present/text.js'
import { EXIT, type Terminal } from '../terminal/terminal.js'

interface Finding extends Partial<Pick<Problem, 'path' | 'line' | 'column'>> {
  /** Undefined for one about the file. */
  tool?: string
  /** Where the tool is defined: `file:line`. The other `line`, and `column`, point into its template. */
  defined_at?: string
  rule: string
  /** As text for a terminal; with the line of the template where one is concerned. */
  message: string
}

/**
 * `delta tool lint`: what a reviewer would ask about tools that load. Exit code 1 if there is anything.
 *
 * @throws {ConfigError} at the end, with everything that keeps others from loading.
 */
export async function execute(
  flags: ToolFlags & { json?: boolean },
  terminal: Terminal,
  path: string,
): Promise<number> {
  const loaded = await loadTools(path, flags, terminal, { partial: true })
  const { tools, failure } = loaded
  const broken = (failure?.problems ?? []).map((problem) =>
    aboutFile('does-not-load', formatProblem(problem)),
  )
  const findings = findingsOf(loaded, path, terminal)
  if (flags.json) printJson(terminal, [...broken, ...findings])
  else for (const { message } of findings) print(terminal, `${printable(message)}\n`)
  if (failure) throw failure
  say(terminal, `${counted(tools.size, 'tool')}, ${counted(findings.length, 'finding')}`)
  return findings.length === 0 ? EXIT.completed : EXIT.failed
}

/** What a reviewer would ask about the tools at a path, and the warnings of their files. */
export function findingsOf(
  { tools, placeOf, warnings, agentHome }: Awaited<ReturnType<typeof loadTools>>,
  path: string,
  { env }: Terminal,
): Finding[] {
  const options = { commandExists: commandFinder(agentHome, env), env }
  const aboutTools = [...tools.values()].flatMap(({ expanded, settings }) => {
    // A program that describes itself writes nothing as ${name}.
    const isImported = settings.trust !== undefined
    return lintTool(expanded, options)
      .filter(({ rule }) => !isImported || rule !== 'environment-name')
      .map((finding) => aboutTool(expanded.name, finding, placeOf(expanded.name) ?? path))
  })
  return [
    ...warnings.map((warning) =>
      aboutFile(warning.deprecated ? 'deprecated' : 'file', formatProblem(warning)),
    ),
    ...aboutTools,
  ]
}

function aboutFile(rule: string, message: string): Finding {
  return { rule, message }
}

function aboutTool(tool: string, finding: LintFinding, definedAt: string): Finding {
  const { rule, path, line, column, message } = finding
  const where = `${definedAt}: ${tool}: ${path}`
  const text = formatInTemplate({ ...finding, message: `${message} (${rule})` }, where)
  const place = line && column ? { line, column } : {}
  return { tool, defined_at: definedAt, rule, path, message: text, ...place }
}
