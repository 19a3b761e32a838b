import { resolve } from 'node:path'
import { type LoadedTools, loadToolsFile } from '@delta/config-loader'
import { stringify } from 'yaml'
import { importRoots } from '../engine-options.js'
import type { Terminal } from '../terminal.js'
import { UsageError } from '../usage-error.js'

/** `delta tool expand`: the same document with its tools in their full form and its imports resolved away. */
export async function execute(
  flags: { json?: boolean; tool?: string; importRoot: string[] },
  terminal: Terminal,
  path: string,
): Promise<number> {
  const { document } = await loadToolsFile(resolve(terminal.cwd, path), {
    environment: terminal.env,
    importRoots: importRoots(flags, terminal),
  })
  const shown = flags.tool === undefined ? document : only(document, flags.tool)
  const text = flags.json ? JSON.stringify(shown, null, 2) : stringify(shown, { lineWidth: 0 })
  terminal.stdout.write(`${text.trimEnd()}\n`)
  return 0
}

function only(document: LoadedTools['document'], name: string): object {
  const tools = (Array.isArray(document) ? document : document.tools) as { name: string }[]
  const tool = tools.find((candidate) => candidate.name === name)
  if (tool) return { tools: [tool] }
  throw new UsageError(
    `--tool ${name}: no such tool. There are: ${tools.map((candidate) => candidate.name).join(', ')}`,
  )
}
