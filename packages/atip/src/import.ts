import { relative, resolve } from 'node:path'
import { loadAtip } from './load.js'
import type { AtipCommand, AtipTool } from './metadata.js'
import { atipToTools } from './tools.js'

/** What to keep of a program's description, and where the file that holds it will be. */
export interface AtipImportOptions {
  /** Commands and groups to keep, as words: `['pr', 'issue list']`. Default: all. */
  commands?: readonly string[] | undefined
  /** The directory of the file: a program beside or below it is named relative to it. Undefined: by its absolute path. */
  directory?: string | undefined
  /** What the program finds in its environment. Default: that of this process. */
  environment?: NodeJS.ProcessEnv | undefined
  /** Ends the program, and whatever it started. */
  signal?: AbortSignal | undefined
}

/**
 * Asks a program once, as `<program> --agent`, to describe itself. What comes back can be kept as a file: its `binary` starts
 * the program that was asked, even if that is not on the `PATH` under the name it gives itself.
 *
 * @param program - A name on the `PATH`, or a path relative to the working directory of this process.
 * @throws {AtipLoadError} The program failed, or what it printed is not JSON.
 * @throws {AtipValidationError} It is not ATIP, or an agent could not load these commands.
 */
export async function importAtip(program: string, options: AtipImportOptions = {}): Promise<AtipTool> {
  const { commands, directory, environment, signal } = options
  const tool = await loadAtip({ command: [program, '--agent'] }, { environment, signal })
  atipToTools(tool, { commands })
  const kept = commands === undefined ? tool : pickCommands(tool, commands)
  const binary = program.includes('/') ? pathFrom(directory, resolve(program)) : program
  return (tool.binary ?? tool.name) === binary ? kept : { ...kept, binary }
}

function pathFrom(directory: string | undefined, path: string): string {
  const way = directory === undefined ? '..' : relative(directory, path)
  return way.startsWith('..') ? path : `./${way}`
}

function pickCommands(tool: AtipTool, wanted: readonly string[]): AtipTool {
  const commands = pick(tool.commands ?? {}, [], wanted)
  return { ...tool, commands, partial: true, filter: { commands: wanted } }
}

type Commands = Record<string, AtipCommand>

function pick(commands: Commands, above: readonly string[], wanted: readonly string[]): Commands {
  const kept = Object.entries(commands).flatMap(([name, command]): [string, AtipCommand][] => {
    const path = [...above, name]
    if (wanted.includes(path.join(' '))) return [[name, command]]
    const below = pick(command.commands ?? {}, path, wanted)
    return Object.keys(below).length === 0 ? [] : [[name, { ...command, commands: below }]]
  })
  return Object.fromEntries(kept)
}
