import { readFile } from 'node:fs/promises'
import { AtipLoadError } from './errors.js'
import { everyLeaf } from './leaves.js'
import type { AtipTool } from './metadata.js'
import { runSource } from './run-source.js'

/** A JSON file, or a command line that prints the JSON: `{ command: ['gh', '--agent'] }`. */
export type AtipSource = string | { command: readonly string[] }

/**
 * Reads and checks metadata. A command runs without a shell, with an empty stdin, and may print at
 * most 1 MB.
 *
 * @param options.timeoutMs - How long a command may take. Default 5 seconds.
 * @param options.environment - What a command finds in its environment. Default: that of this process.
 * @param options.signal - Ends the command, and whatever it started.
 * @throws {AtipLoadError} The file or the command failed, or what came is not JSON.
 * @throws {AtipValidationError} It is JSON, but not ATIP.
 */
export async function loadAtip(
  source: AtipSource,
  options: {
    timeoutMs?: number | undefined
    environment?: NodeJS.ProcessEnv | undefined
    signal?: AbortSignal | undefined
  } = {},
): Promise<AtipTool> {
  const name = typeof source === 'string' ? source : source.command.join(' ')
  const { timeoutMs = 5_000, environment = process.env, signal } = options
  const text =
    typeof source === 'string'
      ? await readSource(source)
      : await runSource(source.command, { timeoutMs, env: environment, signal })
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
