import type { Tool } from '@delta/executor'
import { loadTools, type ToolFlags } from '../load-tools.js'
import { print } from '../present/print.js'
import { printable } from '../present/printable.js'
import { EXIT, type Terminal } from '../terminal.js'

/** `delta tool list`: the tools of an agent, one a line, as the model will be told of them. */
export async function execute(
  flags: ToolFlags & { json?: boolean },
  terminal: Terminal,
  path: string,
): Promise<number> {
  const tools = [...(await loadTools(path, flags, terminal)).tools.values()]
  if (flags.json) {
    print(terminal, `${JSON.stringify(tools.map(summaryOf), null, 2)}\n`)
    return EXIT.completed
  }
  const width = Math.max(0, ...tools.map((tool) => signatureOf(tool).length))
  for (const tool of tools) {
    const line = `${signatureOf(tool).padEnd(width)}  ${firstLine(tool.expanded.description)}`
    print(terminal, `${printable(line.trimEnd())}\n`)
  }
  return EXIT.completed
}

/** `read_file(path, lines?)`. */
function signatureOf({ expanded }: Tool): string {
  const parameters = expanded.parameters.map(({ name, required }) => (required ? name : `${name}?`))
  return `${expanded.name}(${parameters.join(', ')})`
}

function summaryOf({ expanded }: Tool): object {
  const { name, description, command, parameters } = expanded
  return { name, description: description ?? null, command, parameters }
}

function firstLine(text = ''): string {
  return text.split('\n')[0] ?? ''
}
