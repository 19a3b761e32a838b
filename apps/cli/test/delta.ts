import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readBody } from '@delta/journal/internal'
import type { StoredEvent } from '@delta/journal/runs'
import {
  type AnswerTurn,
  checkRecords,
  type ProcessResult,
  runProcess,
  type ScriptedServer,
  type StartedProcess,
  startProcess,
  startScriptedServer,
  type TemporaryAgentOptions,
  type TemporaryWorkspace,
  temporaryAgent,
  temporaryWorkspace,
  waitForFile,
} from '@delta/testkit'
import { afterEach, onTestFinished } from 'vitest'
import { runInProcess } from './in-process.js'

/** What a scripted server receives in any test is in the record of the run. */
export const records = checkRecords(readBody)
afterEach(records.check)

/** The command as it is installed. */
export const DELTA = fileURLToPath(new URL('../bin.cjs', import.meta.url))

interface RunOptions {
  cwd?: string
  env?: Record<string, string>
  input?: string
}

interface StartOptions extends RunOptions {
  /** Leave stdin open for `write`. */
  interactive?: boolean
}

/** An environment without any key or address of the person who runs the tests. */
export function cleanEnvironment(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { PATH, HOME, LANG, LC_MESSAGES, TMPDIR, DELTA_STATE_DIR } = process.env
  return {
    ...Object.fromEntries(
      Object.entries({ PATH, HOME, LANG, LC_MESSAGES, TMPDIR, DELTA_STATE_DIR }).filter(
        ([, value]) => value !== undefined,
      ),
    ),
    ...extra,
  }
}

/** Runs the command in this process, or in one of its own where the environment speaks to Node.js. */
export function delta(args: string[], { env = {}, ...options }: RunOptions = {}): Promise<ProcessResult> {
  if (env.NODE_OPTIONS) return deltaProcess(args, { env, ...options })
  return runInProcess([process.execPath, DELTA, ...args], { ...options, env: cleanEnvironment(env) })
}

/** Runs the command as it is installed, in a process of its own: for what kills it, and for what must survive its end. */
export function deltaProcess(args: string[], { env, ...options }: RunOptions = {}): Promise<ProcessResult> {
  return runProcess([process.execPath, DELTA, ...args], { ...options, env: cleanEnvironment(env) })
}

export function startDelta(args: string[], { env, ...options }: StartOptions = {}): StartedProcess {
  return startProcess([process.execPath, DELTA, ...args], { ...options, env: cleanEnvironment(env) })
}

/** The events of the latest run of a workspace, each line parsed. */
export async function journalOf(workspace: string): Promise<StoredEvent[]> {
  const runId = (await readFile(join(workspace, '.delta/LATEST'), 'utf8')).trim()
  const text = await readFile(join(workspace, '.delta', runId, 'journal.jsonl'), 'utf8')
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

/** The types of the latest run's events, in order. */
export async function eventTypes(workspace: string): Promise<string[]> {
  return (await journalOf(workspace)).map((event) => event.type)
}

export const KEY = { DELTA_API_KEY: 'test-key-not-real' }

/** An agent, a workspace, and the commands about them. */
export interface Scene {
  agent: TemporaryWorkspace
  workspace: TemporaryWorkspace
  /** The whole command line: `delta <command> <flags>` in the workspace, `run` with the agent and the task "Go". */
  words(command: string, ...flags: string[]): string[]
  run(...flags: string[]): Promise<ProcessResult>
  start(...flags: string[]): StartedProcess
  /** Any other command. */
  at(command: string, ...flags: string[]): Promise<ProcessResult>
  /** The events of the latest run, of one type or all. */
  events(type?: string): Promise<Record<string, unknown>[]>
}

interface SceneOptions {
  files?: Record<string, string | Uint8Array>
  env?: Record<string, string>
  /** Each command is a process of its own, which its tools and hooks may kill, and may ask what it is. */
  isProcess?: boolean
}

/** Both are removed when the test ends. The model has a key where it is a server's. */
export async function scene(
  options: TemporaryAgentOptions = {},
  { files, env = options.baseUrl === undefined ? {} : KEY, isProcess = false }: SceneOptions = {},
): Promise<Scene> {
  const agent = await temporaryAgent({ ...options, onCleanup: onTestFinished })
  const workspace = await temporaryWorkspace(files, { onCleanup: onTestFinished })
  const words: Scene['words'] = (command, ...flags) => [
    ...command.split(' '),
    ...(command === 'run' ? ['--agent', agent.path, '-m', 'Go'] : []),
    ...['-w', workspace.path],
    ...flags,
  ]
  const start = isProcess ? deltaProcess : delta
  const at: Scene['at'] = (...line) => start(words(...line), { env })
  return {
    agent,
    workspace,
    words,
    at,
    run: (...flags) => at('run', ...flags),
    start: (...flags) => startDelta(words('run', ...flags), { env }),
    events: async (type) => {
      const events = (await journalOf(workspace.path)) as unknown as Record<string, unknown>[]
      return events.filter((event) => type === undefined || event.type === type)
    },
  }
}

/** The same with a scripted server as the model. */
export async function served(
  script: Parameters<typeof startScriptedServer>[0],
  options: TemporaryAgentOptions = {},
  more: Pick<SceneOptions, 'isProcess'> = {},
): Promise<Scene & { server: ScriptedServer }> {
  const server = await startScriptedServer(script)
  onTestFinished(() => server[Symbol.asyncDispose]())
  return { server, ...(await scene({ baseUrl: server.baseUrl, ...options }, more)) }
}

/** A turn of a script that calls one tool. */
export function calls(name: string, args: object = {}): AnswerTurn {
  return { tool_calls: [{ name, arguments: { ...args } }] }
}

/** Kills an engine as `kill -9` does, once a file of the workspace is there with a whole line. */
export async function killOnce(engine: StartedProcess, path: string): Promise<string> {
  const text = await waitForFile(path, (content) => content.endsWith('\n'))
  engine.kill('SIGKILL')
  await engine.result
  return text
}
