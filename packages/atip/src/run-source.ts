import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { AtipLoadError, type AtipLoadErrorCode } from './errors.js'

const MAX_BYTES = 1_048_576

/**
 * What a command prints, at most 1 MB of it. It runs without a shell, with an empty stdin, in a process group of its own,
 * which ends as a whole when it takes too long, prints too much, or is no longer wanted.
 *
 * @throws {AtipLoadError} `ERR_ATIP_COMMAND`, `ERR_ATIP_TIMEOUT`, `ERR_ATIP_TOO_LARGE`, `ERR_ATIP_ABORTED`.
 */
export async function runSource(
  command: readonly string[],
  { timeoutMs, env, signal }: { timeoutMs: number; env: NodeJS.ProcessEnv; signal: AbortSignal | undefined },
): Promise<string> {
  const source = command.join(' ')
  const [program, ...args] = command
  if (program === undefined) throw new AtipLoadError('ERR_ATIP_COMMAND', 'The command is empty.', source)
  const problem = (code: AtipLoadErrorCode, what: string, options?: { cause: unknown }) =>
    new AtipLoadError(code, `${source}: ${what}`, source, options)

  if (signal?.aborted) throw problem('ERR_ATIP_ABORTED', 'was not started any more.')
  return await new Promise((resolve, reject) => {
    const child = start(program, args, env, (error) =>
      problem('ERR_ATIP_COMMAND', startProblem(error, program, env), { cause: error }),
    )
    const chunks: Buffer[] = []
    let bytes = 0
    let failure: AtipLoadError | undefined

    const giveUp = (error: AtipLoadError) => {
      failure ??= error
      endGroup(child.pid)
      child.stdout.destroy()
    }
    const late = () => giveUp(problem('ERR_ATIP_TIMEOUT', `no metadata after ${timeoutMs} ms.`))
    const timer = setTimeout(late, timeoutMs)
    const stop = () => giveUp(problem('ERR_ATIP_ABORTED', 'was stopped.'))
    signal?.addEventListener('abort', stop, { once: true })
    const settle = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
    }
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      chunks.push(chunk)
      if (bytes > MAX_BYTES) giveUp(problem('ERR_ATIP_TOO_LARGE', `printed more than ${MAX_BYTES} bytes.`))
    })
    child.on('error', (error) => {
      settle()
      reject(problem('ERR_ATIP_COMMAND', startProblem(error, program, env), { cause: error }))
    })
    child.on('close', (code, killedBy) => {
      settle()
      if (code !== 0)
        failure ??= problem('ERR_ATIP_COMMAND', `ended with ${killedBy ?? `exit code ${code}`}.`)
      if (failure) reject(failure)
      else resolve(Buffer.concat(chunks).toString('utf8'))
    })
  })
}

/** What cannot be started is told by an event, but for a word with a NUL byte or too many words: these are thrown. */
function start(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  failure: (error: NodeJS.ErrnoException) => AtipLoadError,
) {
  try {
    return spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'], detached: true, env })
  } catch (error) {
    throw failure(error as NodeJS.ErrnoException)
  }
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

/** The system says EACCES, too, of a directory on the PATH that nobody may look into. */
function startProblem(error: NodeJS.ErrnoException, program: string, env: NodeJS.ProcessEnv): string {
  const directories = program.includes('/') ? [''] : (env.PATH ?? '').split(':')
  const isThere = directories.some((directory) => existsSync(resolve(directory, program)))
  if (error.code === 'ENOENT' || (error.code === 'EACCES' && !isThere)) return 'there is no such program.'
  if (error.code === 'EACCES') return 'the program is there, but it cannot be executed.'
  return `cannot be started (${error.message}).`
}
