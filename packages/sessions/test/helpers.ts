import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import {
  cleanUpSessions,
  type ExecOptions,
  type ExecResult,
  execInSession,
  startSession,
} from '../src/index.js'

const directories: string[] = []

/** A new directory, removed after the test with every session that was started in it. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'sessions-'))
  directories.push(directory)
  return directory
}

afterEach(async () => {
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
  const environment = { PATH: process.env.PATH, HOME: workDirectory, LANG: 'C.UTF-8', ...more.env }
  const { session_id: id } = await startSession(program, {
    sessionsDirectory,
    workDirectory,
    environment,
    ...(more.secretNames && { secretNames: more.secretNames }),
  })
  const exec = (command: string, options: Partial<ExecOptions> = {}) =>
    execInSession(id, command, { sessionsDirectory, environment, ...options })
  const print = async (command: string) => {
    const result = await exec(command)
    if (result.exit_code !== 0) throw new Error(`${command}: exit code ${result.exit_code}\n${result.stderr}`)
    return result.stdout
  }
  return { id, workDirectory, sessionsDirectory, directory: join(sessionsDirectory, id), exec, print }
}
