import { resolve } from 'node:path'
import type { AtipTool } from '@delta/atip'
import { CREDENTIAL_NAMES } from '@delta/executor'
import { replaceFile } from '@delta/journal'
import { pickCommands } from '../pick-commands.js'
import { print } from '../present/print.js'
import { printable } from '../present/printable.js'
import { explainSystemError } from '../system-error.js'
import { EXIT, type Terminal } from '../terminal.js'
import { UsageError } from '../usage-error.js'

interface ImportFlags {
  commands?: string
  output?: string
}

/**
 * `delta tool import`: asks a program to describe itself, once, and keeps what it says as a file to import. Agents
 * read the file; nothing is run when they are loaded.
 */
export async function execute(flags: ImportFlags, terminal: Terminal, program: string): Promise<number> {
  const described = withBinary(await describe(program, flags, terminal), program, terminal)
  const text = `${JSON.stringify(described, null, 2)}\n`
  if (flags.output === '-') {
    print(terminal, text)
    return EXIT.completed
  }
  const file = flags.output ?? `${described.name}.atip.json`
  write(file, text, terminal)
  terminal.stderr.write(printable(wayOn(file, described)))
  print(terminal, `${file}\n`)
  return EXIT.completed
}

function write(file: string, text: string, terminal: Terminal): void {
  try {
    replaceFile(resolve(terminal.cwd, file), text, { mode: 0o644 })
  } catch (cause) {
    const reason = explainSystemError((cause as Error).cause) ?? (cause as Error).message
    throw new UsageError(`${file}: ${reason}`, { cause })
  }
}

async function describe(program: string, { commands }: ImportFlags, terminal: Terminal): Promise<AtipTool> {
  const { atipToTools, isAtipError, loadAtip } = await import('@delta/atip')
  const environment = Object.fromEntries(
    Object.entries(terminal.env).filter(([name]) => !CREDENTIAL_NAMES.includes(name)),
  )
  try {
    const tool = await loadAtip({ command: [program, '--agent'] }, { environment })
    const wanted = commands?.split(',').map((command) => command.trim())
    atipToTools(tool, wanted ? { commands: wanted } : {}) // refuses now what an agent would refuse later
    return wanted ? pickCommands(tool, wanted) : tool
  } catch (error) {
    if (!isAtipError(error)) throw error
    if (error.name !== 'AtipLoadError') throw new UsageError(error.message, { cause: error })
    const hint = `A program that speaks ATIP prints one JSON object for: ${program} --agent`
    throw new UsageError(`${error.message}\n${hint}`, { cause: error })
  }
}

/** Calls start what was asked, also when it is not on the `PATH` under the name that it gives itself. */
function withBinary(tool: AtipTool, program: string, terminal: Terminal): AtipTool {
  if ((tool.binary ?? tool.name) === program) return tool
  return { ...tool, binary: program.includes('/') ? resolve(terminal.cwd, program) : program }
}

function wayOn(file: string, tool: AtipTool): string {
  return `${tool.name} ${tool.version}: ${tool.description}
What it says of its effects is a claim. To give it to an agent, in its agent.yaml:
  imports:
    - { atip: ${file}, trust: community }
`
}
