import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Condition, WaitOptions } from './wait.js'
import { meets, waitUntil } from './wait.js'

export interface ProcessOptions {
  readonly cwd?: string
  /** The whole environment. Default: the test's own. */
  readonly env?: NodeJS.ProcessEnv
  /** Written to stdin, which is then closed. Default: nothing, closed. */
  readonly input?: string | Uint8Array
  /** Leave stdin open for `write`. */
  readonly interactive?: boolean
  /** Lead a process group of its own, as a shell's job does. */
  readonly detached?: boolean
}

export interface ProcessResult {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface StartedProcess {
  readonly pid: number
  /** Resolves when the process has exited and its output was read. Rejects only if it could not start. */
  readonly result: Promise<ProcessResult>
  readonly stdout: string
  readonly stderr: string
  write(text: string): void
  endInput(): void
  kill(signal: NodeJS.Signals): void
  /** Resolves with that stream's text so far once it meets the condition, rejects if it ends without. */
  waitForOutput(
    condition: Condition,
    options?: WaitOptions & { stream?: 'stdout' | 'stderr' },
  ): Promise<string>
}

/** Runs a command to its end. A non-zero exit is a result, not an error. */
export function runProcess(argv: readonly string[], options: ProcessOptions = {}): Promise<ProcessResult> {
  return startProcess(argv, options).result
}

/** Starts a command and goes on; what it prints can be awaited. */
export function startProcess(argv: readonly string[], options: ProcessOptions = {}): StartedProcess {
  const [file = '', ...rest] = argv
  const child = spawn(file, rest, { cwd: options.cwd, env: options.env, detached: options.detached ?? false })
  const text = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (part: string) => {
      text[name] += part
    })
  }
  child.stdin.on('error', () => {}) // a child may exit without reading; its result says so
  if (!options.interactive) child.stdin.end(options.input)

  let failure: Error | undefined
  const result = new Promise<ProcessResult>((resolve, reject) => {
    child.once('error', (error) => {
      failure = error
      reject(error)
    })
    child.once('close', (exitCode, signal) => {
      const { stdout, stderr } = text
      failure ??= new Error(`${file} exited with ${exitCode} first.\nstdout: ${stdout}\nstderr: ${stderr}`)
      resolve({ exitCode, signal, ...text })
    })
  })

  return {
    pid: child.pid ?? 0,
    result,
    get stdout() {
      return text.stdout
    },
    get stderr() {
      return text.stderr
    },
    write: (input) => void child.stdin.write(input),
    endInput: () => child.stdin.end(),
    kill: (signal) => void child.kill(signal),
    waitForOutput(condition, { stream = 'stdout', ...options } = {}) {
      const read = () => {
        if (failure && !meets(text[stream], condition)) throw failure
        return text[stream]
      }
      return waitUntil(read, condition, options, `${stream} of ${file}`)
    },
  }
}

/** Whether a process runs; one that has exited and waits to be reaped does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  return !isZombie(pid)
}

/** Resolves once the process is gone; for processes that are not our children. */
export async function waitForExit(pid: number, options: WaitOptions = {}): Promise<void> {
  const state = () => (isAlive(pid) ? 'alive' : 'gone')
  await waitUntil(state, 'gone', options, `process ${pid} to exit`)
}

function isZombie(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .startsWith('Z')
  } catch {
    return false // no /proc on this system, or gone in between: the signal above has answered
  }
}
