import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { AtipLoadError } from './errors.js'
import { everyLeaf } from './leaves.js'
import type { AtipTool } from './metadata.js'

const MAX_BYTES = 1_048_576

/** A JSON file, or a command line that prints the JSON: `{ command: ['gh', '--agent'] }`. */
export type AtipSource = string | { command: readonly string[] }

/**
 * Reads and checks metadata. A command runs without a shell, with an empty stdin, and may print at
 * most 1 MB.
 *
 * @param options.timeoutMs - How long a command may take. Default 5 seconds.
 * @param options.environment - What a command finds in its environment. Default: that of this process.
 * @throws {AtipLoadError} The file or the command failed, or what came is not JSON.
 * @throws {AtipValidationError} It is JSON, but not ATIP.
 */
export async function loadAtip(
  source: AtipSource,
  {
    timeoutMs = 5_000,
    environment = process.env,
  }: { timeoutMs?: number; environment?: NodeJS.ProcessEnv } = {},
): Promise<AtipTool> {
  const name = typeof source === 'string' ? source : source.command.join(' ')
  const text =
    typeof source === 'string'
      ? await readSource(source)
      : await runSource(source.command, timeoutMs, environment)
  const tool = parseJson(text, name)
  everyLeaf(tool) // walks everything once, so that what is returned is known to be sound
  return tool
}

async function readSource(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new AtipLoadError('ERR_ATIP_READ', `${path}: cannot be read (${messageOf(error)}).`, path, {
      cause: error,
    })
  }
}

function parseJson(text: string, source: string): AtipTool {
  try {
    return JSON.parse(text)
  } catch (error) {
    const message = `${source}: not JSON (${messageOf(error)}). ATIP metadata is one JSON object.`
    throw new AtipLoadError('ERR_ATIP_NOT_JSON', message, source, { cause: error })
  }
}

async function runSource(
  command: readonly string[],
  timeoutMs: number,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const source = command.join(' ')
  const [program, ...args] = command
  if (program === undefined) throw new AtipLoadError('ERR_ATIP_COMMAND', 'The command is empty.', source)
  return await new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'], detached: true, env })
    const chunks: Buffer[] = []
    let bytes = 0
    let failure: AtipLoadError | undefined

    const giveUp = (error: AtipLoadError) => {
      failure ??= error
      endGroup(child.pid)
      child.stdout.destroy()
    }
    const timer = setTimeout(() => {
      giveUp(new AtipLoadError('ERR_ATIP_TIMEOUT', `${source}: no metadata after ${timeoutMs} ms.`, source))
    }, timeoutMs)
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      chunks.push(chunk)
      if (bytes > MAX_BYTES) {
        giveUp(
          new AtipLoadError('ERR_ATIP_TOO_LARGE', `${source}: printed more than ${MAX_BYTES} bytes.`, source),
        )
      }
    })
    child.on('error', (error) => {
      clearTimeout(timer)
      reject(
        new AtipLoadError('ERR_ATIP_COMMAND', `${source}: ${startProblem(error)}`, source, { cause: error }),
      )
    })
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      if (code !== 0) {
        failure ??= new AtipLoadError(
          'ERR_ATIP_COMMAND',
          `${source}: ended with ${signal ?? `exit code ${code}`}.`,
          source,
        )
      }
      if (failure) reject(failure)
      else resolve(Buffer.concat(chunks).toString('utf8'))
    })
  })
}

/** The child leads its own process group, so whatever it started ends with it. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error // it was gone already
  }
}

function startProblem(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return 'there is no such program.'
  if (error.code === 'EACCES') return 'the program is there, but it cannot be executed.'
  return `cannot be started (${error.message}).`
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
