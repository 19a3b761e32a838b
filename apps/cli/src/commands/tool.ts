import type { Policy, Tool } from '@delta/executor'
import { decide, type PolicyDecision } from '@delta/executor/internal'
import type { LoadedTools } from '@delta/config-loader'
import { formatProblem } from '@delta/config-loader/internal'
import { toJsonSchema } from '@delta/tool-expander'
import { loadTools, type ToolFlags } from '../agent/load-agent.js'
import { effectsOf, inColumns, print, printable, printJson, say, table } from '../present/text.js'
import { asYaml } from '../present/yaml.js'
import { EXIT, type Terminal } from '../terminal/terminal.js'
import { UsageError } from '../usage.js'

/** `delta tool expand`: the same document with its tools in their full form and its imports resolved away. */
export async function expand(
  flags: ToolFlags & { json?: boolean; tool?: string },
  terminal: Terminal,
  path: string,
): Promise<number> {
  const { document, warnings } = await loadTools(path, flags, terminal)
  for (const warning of warnings) say(terminal, formatProblem(warning))
  const shown = flags.tool === undefined ? document : only(document, flags.tool)
  if (flags.json) printJson(terminal, shown)
  else print(terminal, asYaml(shown))
  return EXIT.completed
}

function only(document: LoadedTools['document'], name: string): object {
  const tools = (Array.isArray(document) ? document : document.tools) as { name: string }[]
  const tool = tools.find((candidate) => candidate.name === name)
  if (tool) return { tools: [tool] }
  throw new UsageError(
    `--tool ${name}: no such tool. There are: ${tools.map((candidate) => candidate.name).join(', ')}`,
  )
}

/** `delta tool list`: the tools of an agent: how each is written, what it may do, and what the policy says to that. */
export async function list(
  flags: ToolFlags & { json?: boolean },
  terminal: Terminal,
  path: string,
): Promise<number> {
  const { tools, policy, warnings } = await loadTools(path, flags, terminal)
  for (const warning of warnings) say(terminal, formatProblem(warning))
  const listed = [...tools.values()].map((tool) => ({ tool, ...decisionOn(tool, policy) }))
  const rows = listed.map(row)
  if (flags.json) printJson(terminal, listed.map(summaryOf))
  else if (rows.length > 0) print(terminal, printable(table([HEADER, ...rows])))
  return EXIT.completed
}

function decisionOn({ settings, expanded: { name } }: Tool, policy: Policy | undefined): PolicyDecision {
  const { decision, reasons } = decide(settings.effects, policy, { trust: settings.trust, tool: name })
  const hasConsent = decision === 'allow' && Object.hasOwn(policy?.tools ?? {}, name)
  return { decision, reasons: hasConsent ? ['policy.tools'] : reasons }
}

type Listed = { tool: Tool } & PolicyDecision

function summaryOf({ tool, decision, reasons }: Listed): object {
  const { name, description, command, parameters, stdin, input_schema } = tool.expanded
  return {
    name,
    description: description ?? null,
    mode: modeOf(tool),
    effects: tool.settings.effects ?? null,
    trust: tool.settings.trust ?? null,
    decision,
    reasons,
    command,
    parameters,
    stdin,
    input_schema,
  }
}

const HEADER = ['TOOL', 'MODE', 'POLICY', 'EFFECTS', 'DESCRIPTION']
/** Programs with dozens of options describe themselves, too, and the other columns are to be seen; `--json` has them all. */
const WIDEST_SIGNATURE = 60

function row({ tool, decision, reasons }: Listed): string[] {
  const { properties, required } = toJsonSchema(tool.expanded)
  const parameters = Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`))
  return [
    inColumns(`${tool.expanded.name}(${parameters.join(', ')})`, WIDEST_SIGNATURE), // `read_file(path, lines?)`
    modeOf(tool),
    `${decision}${reasons.length === 0 ? '' : `: ${reasons.join(', ')}`}`,
    effectsOf(tool.settings.effects),
    tool.expanded.description?.split('\n')[0] ?? '',
  ]
}

/** How its author wrote it; `atip` if a program described itself. */
function modeOf({ expanded, settings }: Tool): 'exec' | 'shell' | 'command' | 'atip' {
  return settings.trust === undefined ? (expanded.__meta?.syntax ?? 'command') : 'atip'
}
