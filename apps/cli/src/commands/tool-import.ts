import { existsSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { AtipTool } from '@delta/atip'
import { CREDENTIAL_NAMES, quoteForPerson } from '@delta/executor'
import { replaceFile } from '@delta/journal'
import { print } from '../present/print.js'
import { printable } from '../present/printable.js'
import { StoppedError, stopSignal } from '../terminal/stop-signal.js'
import { explainSystemError } from '../terminal/system-error.js'
import { EXIT, type Terminal } from '../terminal/terminal.js'
import { pickCommands } from '../tools/pick-commands.js'
import { UsageError } from '../usage.js'
import { withOwnCommands } from '../with-own-commands.js'

interface ImportFlags {
  commands?: string
  output?: string
}

/**
 * `delta tool import`: asks a program to describe itself, once, and keeps what it says as a file to import. Agents
 * read the file; nothing is run when they are loaded.
 */
export async function execute(flags: ImportFlags, terminal: Terminal, program: string): Promise<number> {
  const described = await describe(program, flags, terminal)
  if (flags.output === '-') {
    print(terminal, asText(withBinary(described, program, { cwd: terminal.cwd })))
    return EXIT.completed
  }
  const file = flags.output ?? `${described.name}.atip.json`
  const path = resolve(terminal.cwd, file)
  const text = asText(withBinary(described, program, { cwd: terminal.cwd, directory: dirname(path) }))
  write(path, text)
  terminal.stderr.write(printable(nextSteps(path, described, terminal.cwd)))
  print(terminal, `${file}\n`)
  return EXIT.completed
}

function asText(tool: AtipTool): string {
  return `${JSON.stringify(tool, null, 2)}\n`
}

function write(path: string, text: string): void {
  const there = statSync(path, { throwIfNoEntry: false })
  if (there && !there.isFile() && !there.isDirectory())
    // replacing a device or a pipe would take it away from everybody
    throw new UsageError(`${path}: it is not a regular file. Name one, or print the description with -o -`)
  try {
    replaceFile(path, text, { mode: 0o644 })
  } catch (cause) {
    const reason = explainSystemError((cause as Error).cause) ?? (cause as Error).message
    throw new UsageError(`${path}: ${reason}`, { cause })
  }
}

async function describe(program: string, { commands }: ImportFlags, terminal: Terminal): Promise<AtipTool> {
  const { atipToTools, isAtipError, loadAtip } = await import('@delta/atip')
  const withoutKeys = Object.entries(terminal.env).filter(([name]) => !CREDENTIAL_NAMES.includes(name))
  const environment = withOwnCommands(Object.fromEntries(withoutKeys)) // as its tools will be started
  using stop = stopSignal(terminal)
  try {
    const tool = await loadAtip({ command: [program, '--agent'] }, { environment, signal: stop.signal })
    const wanted = commands?.split(',').map((command) => command.trim())
    atipToTools(tool, wanted ? { commands: wanted } : {}) // fails now where loading an agent would fail later
    return wanted ? pickCommands(tool, wanted) : tool
  } catch (error) {
    if (stop.signal.aborted) throw new StoppedError(stop.signal, error, 'Nothing was written.')
    if (!isAtipError(error)) throw error
    if (error.name === 'AtipValidationError')
      throw new UsageError(`${program} --agent: ${error.message}`, { cause: error })
    if (error.name !== 'AtipLoadError') throw new UsageError(error.message, { cause: error })
    throw new UsageError(`${error.message}\n${hintFor(program, terminal.cwd, error.cause)}`, { cause: error })
  }
}

function hintFor(program: string, cwd: string, cause: unknown): string {
  const { code } = Object(cause) as NodeJS.ErrnoException
  const isPath = program.includes('/')
  if (code === 'EACCES' && isPath) return `If it is a script: chmod +x ${quoteForPerson([program])}`
  const isMissing = code === 'ENOENT' || code === 'EACCES' // EACCES also comes from a directory on the PATH that may not be entered
  if (isMissing && !isPath && existsSync(join(cwd, program)))
    return `The file of this directory is ${quoteForPerson([`./${program}`])}`
  if (isMissing && /\s/.test(program))
    return 'Name one program, without arguments. A script is one by its first line (#!/usr/bin/env python3) and chmod +x.'
  return `A program that speaks ATIP prints one JSON object for: ${program} --agent
One that does not is a tool, too, by a line under tools: in agent.yaml: - { name: …, exec: … }`
}

/**
 * Makes calls start the program that was asked, even if it is not on the `PATH` under the name it gives itself. A program
 * beside or below the file is named relative to it, so that both can be moved together.
 */
function withBinary(
  tool: AtipTool,
  program: string,
  { cwd, directory }: { cwd: string; directory?: string },
): AtipTool {
  if (!program.includes('/'))
    return (tool.binary ?? tool.name) === program ? tool : { ...tool, binary: program }
  const path = resolve(cwd, program)
  const way = directory === undefined ? '..' : relative(directory, path)
  return { ...tool, binary: way.startsWith('..') ? path : `./${way}` }
}

/** What to add to `agent.yaml`, which is beside or above the written file; its import is relative to it. */
function nextSteps(path: string, tool: AtipTool, cwd: string): string {
  const agent = agentAbove(dirname(path))
  const file = relative(agent ?? cwd, path)
  const move = agent === undefined ? 'write it into its directory with -o, and then ' : ''
  return `${tool.name} ${tool.version}: ${tool.description}
Nobody has verified the effects it declares. To give it to an agent, ${move}in its agent.yaml:
  imports:
    - { atip: ${file.startsWith('..') ? path : `./${file}`} }
`
}

function agentAbove(directory: string): string | undefined {
  if (['agent.yaml', 'agent.yml'].some((name) => existsSync(join(directory, name)))) return directory
  const above = dirname(directory)
  return above === directory ? undefined : agentAbove(above)
}
