import { formatProblem, type LoadedTools } from '@delta/config-loader'
import { print, printJson, say } from '../present/print.js'
import { asYaml } from '../present/yaml.js'
import { EXIT, type Terminal } from '../terminal/terminal.js'
import { loadTools, type ToolFlags } from '../tools/load-tools.js'
import { UsageError } from '../usage.js'

/** `delta tool expand`: the same document with its tools in their full form and its imports resolved away. */
export async function execute(
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
