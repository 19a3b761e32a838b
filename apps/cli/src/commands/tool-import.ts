import { existsSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { AtipTool } from '@delta/atip'
import { replaceFile } from '@delta/durable'
import { commandEnvironment } from '@delta/executor'
import { explainSystemError } from '@delta/workspace/internal'
import { withOwnCommands } from '../own-commands.js'
import { EXIT, StoppedError, stopSignal, type Terminal } from '../terminal.js'
import { print, printable } from '../text.js'
import { UsageError } from '../usage.js'

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
  const text = `${JSON.stringify(described, null, 2)}\n`
  if (flags.output === '-') {
    print(terminal, text)
    return EXIT.completed
  }
  const file = flags.output ?? `${described.name}.atip.json`
  const path = resolve(terminal.cwd, file)
  write(path, text)
  terminal.stderr.write(printable(nextSteps(path, described, terminal.cwd)))
  print(terminal, `${file}\n`)
  return EXIT.completed
}

async function describe(
  program: string,
  { commands, output }: ImportFlags,
  terminal: Terminal,
): Promise<AtipTool> {
  const { importAtip, isAtipError, loadAtip } = await import('@delta/atip')
  using stop = stopSignal(terminal)
  try {
    return await importAtip(program, {
      commands: commands?.split(',').map((command) => command.trim()),
      directory: directoryOf(output, terminal.cwd),
      env: withOwnCommands(commandEnvironment(terminal.env)), // as its tools will be started
      signal: stop.signal,
    })
  } catch (error) {
    if (stop.signal.aborted) throw new StoppedError(stop.signal, error, 'Nothing was written.')
    if (!isAtipError(error)) throw error
    if (error.name !== 'AtipLoadError')
      throw new UsageError(`${program} --agent: ${error.message}`, { cause: error })
    const path = resolve(terminal.cwd, program)
    const file = await loadAtip(path).catch(() => undefined) // what is wrong with another file is of no interest here
    const message = file
      ? `${program}: it is an ATIP file already. Nothing has to be asked.\n${nextSteps(path, file, terminal.cwd)}`
      : `${error.message}\n${howToSpeak(program)}`
    throw new UsageError(message.trimEnd(), { cause: error })
  }
}

function directoryOf(output: string | undefined, cwd: string): string | undefined {
  if (output === undefined) return cwd
  return output === '-' ? undefined : dirname(resolve(cwd, output))
}

function howToSpeak(program: string): string {
  return `Name one program without arguments: its name on the PATH, or the path of an executable file (chmod +x) with a slash in it.
A program with ATIP (Agent Tool Introspection Protocol) prints one JSON object for: ${program} --agent
For any other program, write a tool in agent.yaml: - { name: …, exec: … }`
}

function write(path: string, text: string): void {
  const there = statSync(path, { throwIfNoEntry: false })
  if (there && !there.isFile() && !there.isDirectory())
    // a device or a pipe is shared with other programs
    throw new UsageError(`${path}: it is not a regular file. Name one, or print the description with -o -`)
  try {
    replaceFile(path, text, { mode: 0o644 })
  } catch (cause) {
    const reason = explainSystemError(cause) ?? (cause as Error).message
    throw new UsageError(`${path}: ${reason}`, { cause })
  }
}

/** What to add to which `agent.yaml`: to the nearest above the file or, where there is none yet, to one beside it. */
function nextSteps(path: string, tool: AtipTool, cwd: string): string {
  const home = agentAbove(dirname(path))
  const file = relative(home ?? dirname(path), path)
  const where =
    home === undefined
      ? 'To add it to an agent, keep the file beside its agent.yaml, and write there:'
      : `To add it to the agent, write into ${relative(cwd, join(home, 'agent.yaml'))}:`
  return `${tool.name} ${tool.version}: ${tool.description}
The effects it declares are not verified; "trust: user" says that you vouch for them.
${where}
imports:
  - { atip: ${inFlow(`./${file}`)}, trust: user }
`
}

function agentAbove(directory: string): string | undefined {
  if (existsSync(join(directory, 'agent.yaml'))) return directory
  const above = dirname(directory)
  return above === directory ? undefined : agentAbove(above)
}

/** A path in a YAML mapping on one line. */
function inFlow(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : JSON.stringify(path)
}
