import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { AtipLoadError, type AtipLoadErrorCode } from './errors.js'
import { everyLeaf } from './leaves.js'
import type { AtipCommand, AtipTool } from './metadata.js'
import { atipToTools } from './tools.js'

/** The path of a JSON file, or a command line that prints the JSON: `{ command: ['gh', '--agent'] }`. */
export type AtipSource = string | { command: readonly string[] }

/** How a command that prints metadata is run. */
export interface LoadOptions {
  /** How long a command may take. Default 5000. */
  timeoutMs?: number | undefined
  /** The environment of a command. Default: that of this process. */
  env?: NodeJS.ProcessEnv | undefined
  /** Ends the command and the processes it started. */
  signal?: AbortSignal | undefined
}

/**
 * Reads and checks metadata. A command runs without a shell, with an empty stdin, and may print at
 * most 1 MB.
 *
 * @throws {AtipLoadError} The file or the command failed, or what came is not JSON.
 * @throws {AtipValidationError} It is JSON, but not ATIP.
 * @example
 * const gh = await loadAtip({ command: ['gh', '--agent'] })
 * const notes = await loadAtip('tools/notes.atip.json')
 */
export async function loadAtip(source: AtipSource, options: LoadOptions = {}): Promise<AtipTool> {
  const isFile = typeof source === 'string'
  const text = isFile ? await readSource(source) : await outputOf(source.command, options)
  const tool = parseJson(text, isFile ? source : source.command.join(' '))
  everyLeaf(tool) // checks all of it, so that the metadata that is returned is valid
  return tool
}

async function readSource(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    const message = `${path}: cannot be read (${(cause as Error).message}).`
    throw new AtipLoadError('ERR_ATIP_READ', message, path, { cause })
  }
}

function parseJson(text: string, source: string): AtipTool {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const message = `${source}: not JSON (${(cause as Error).message}). ATIP metadata is one JSON object.`
    throw new AtipLoadError('ERR_ATIP_NOT_JSON', message, source, { cause })
  }
}

const MAX_BYTES = 1_048_576

/** What a program prints. However it ends, what it started in its process group ends with it. */
async function outputOf(command: readonly string[], options: LoadOptions): Promise<string> {
  const { timeoutMs = 5_000, env = process.env, signal } = options
  const source = command.join(' ')
  const problem = (code: AtipLoadErrorCode, what: string) =>
    new AtipLoadError(code, `${source}: ${what}`, source)
  if (!command[0]) throw problem('ERR_ATIP_COMMAND', 'The command is empty.')
  if (signal?.aborted) throw problem('ERR_ATIP_ABORTED', 'was stopped.')
  const child = start(command, env)
  if (child instanceof Error) throw problem('ERR_ATIP_COMMAND', whyNotStarted(child))

  let failure: AtipLoadError | undefined
  const giveUp = (code: AtipLoadErrorCode, what: string) => {
    failure ??= problem(code, what)
    child.stdout.destroy() // a process that left the group may hold it open
    endGroup(child)
  }
  const stop = () => giveUp('ERR_ATIP_ABORTED', 'was stopped.')
  const timer = setTimeout(() => giveUp('ERR_ATIP_TIMEOUT', `no metadata after ${timeoutMs} ms.`), timeoutMs)
  signal?.addEventListener('abort', stop)
  const chunks: Buffer[] = []
  let bytes = 0
  child.stdout.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > MAX_BYTES) giveUp('ERR_ATIP_TOO_LARGE', `printed more than ${MAX_BYTES} bytes.`)
  })
  child.on('error', (error) => {
    failure ??= problem('ERR_ATIP_COMMAND', whyNotStarted(error))
  })
  child.on('exit', () => endGroup(child))
  const [exitCode, endedBy] = await new Promise<[number | null, string | null]>((resolve) =>
    child.on('close', (...ended) => resolve(ended)),
  )
  clearTimeout(timer)
  signal?.removeEventListener('abort', stop)
  if (failure) throw failure
  if (exitCode !== 0) throw problem('ERR_ATIP_COMMAND', `ended with ${endedBy ?? `exit code ${exitCode}`}.`)
  return Buffer.concat(chunks).toString('utf8')
}

function whyNotStarted({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'there is no such program.'
  const isThere = code === 'EACCES' || code === 'ENOEXEC'
  return isThere ? 'the program is there, but it cannot be executed.' : message
}

type Program = ChildProcessByStdio<null, Readable, null>

/** A program that leads a process group, or why there can be none: a NUL byte in a word, or too many words. */
function start([program = '', ...args]: readonly string[], env: NodeJS.ProcessEnv): Program | Error {
  try {
    return spawn(program, args, { env, stdio: ['ignore', 'pipe', 'ignore'], detached: true })
  } catch (error) {
    return error as Error
  }
}

function endGroup({ pid }: Program): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended, or runs as another user.
  }
}

/** What to keep of a program's description, and where the file that holds it will be. */
export interface AtipImportOptions extends LoadOptions {
  /** Commands and groups to keep, as words: `['pr', 'issue list']`. Default: all. */
  commands?: readonly string[] | undefined
  /** The directory of the file: a program beside or below it is named relative to it. Undefined: by its absolute path. */
  directory?: string | undefined
}

/**
 * Asks a program once, as `<program> --agent`, to describe itself. The result can be kept as a file: its `binary` starts
 * the program that was asked, even if that is not on the `PATH` under the name it gives itself.
 *
 * @param program - A name on the `PATH`, or a path relative to the working directory of this process.
 * @throws {AtipLoadError} The program failed, or its output is not JSON.
 * @throws {AtipValidationError} It is not ATIP, or an agent could not load these commands.
 * @example
 * await writeFile('gh.atip.json', JSON.stringify(await importAtip('gh', { commands: ['pr'], directory: '.' })))
 */
export async function importAtip(program: string, options: AtipImportOptions = {}): Promise<AtipTool> {
  const { commands, directory, ...running } = options
  const tool = await loadAtip({ command: [program, '--agent'] }, running)
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
