import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type StartedProcess, startProcess } from '@delta/testkit'
import { afterEach } from 'vitest'
import {
  cleanUpSessions,
  type ExecOptions,
  type ExecResult,
  execInSession,
  startSession,
} from '../src/index.js'

const directories: string[] = []
const commandLines: StartedProcess[] = []
const bin = fileURLToPath(new URL('../bin.cjs', import.meta.url))
let stop = new AbortController()

/** A new directory, removed after the test with every session that was started in it. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'sessions-'))
  directories.push(directory)
  return directory
}

/** Runs `delta-sessions` as a process, which does not outlive the test. */
export function startCommandLine(
  args: readonly string[],
  cwd?: string,
  {
    preload,
    env,
    container = [],
  }: { preload?: string; env?: NodeJS.ProcessEnv; container?: readonly string[] } = {},
): StartedProcess {
  const node = [process.execPath, ...(preload === undefined ? [] : ['--import', preload])]
  const commandLine = startProcess([...container, ...node, bin, ...args], {
    ...(cwd && { cwd }),
    ...(env && { env }),
  })
  commandLines.push(commandLine)
  return commandLine
}

// What a test that failed or ran out of time left running ends first: nobody could end a session in use.
afterEach(async () => {
  stop.abort()
  stop = new AbortController()
  for (const commandLine of commandLines.splice(0)) commandLine.kill('SIGKILL')
  for (const directory of directories.splice(0)) {
    await cleanUpSessions({ sessionsDirectory: join(directory, '.sessions'), all: true })
    rmSync(directory, { recursive: true, force: true })
  }
})

export interface TestSession {
  id: string
  workDirectory: string
  sessionsDirectory: string
  directory: string
  exec(command: string, options?: Partial<ExecOptions>): Promise<ExecResult>
  /** Runs a command that must succeed, and returns what it printed. */
  print(command: string): Promise<string>
}

/** A session in a directory of its own, with a small known environment. */
export async function start(
  program = 'bash',
  more: { env?: NodeJS.ProcessEnv; secretNames?: string[] } = {},
): Promise<TestSession> {
  const workDirectory = temporaryDirectory()
  const sessionsDirectory = join(workDirectory, '.sessions')
  const env = { PATH: process.env.PATH, HOME: workDirectory, LANG: 'C.UTF-8', ...more.env }
  const { sessionId: id } = await startSession(program, {
    sessionsDirectory,
    cwd: workDirectory,
    env,
    ...(more.secretNames && { secretNames: more.secretNames }),
  })
  const { signal } = stop
  const exec = (command: string, options: Partial<ExecOptions> = {}) =>
    execInSession(id, command, { sessionsDirectory, env, signal, ...options })
  const print = async (command: string) => {
    const result = await exec(command)
    if (result.exitCode !== 0) throw new Error(`${command}: exit code ${result.exitCode}\n${result.stderr}`)
    return result.stdout
  }
  return { id, workDirectory, sessionsDirectory, directory: join(sessionsDirectory, id), exec, print }
}
