import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadAgent } from '@delta/config-loader'
import { readBody } from '@delta/journal/internal'
import type { StoredEvent } from '@delta/journal/runs'
import {
  checkRecords,
  startProcess,
  type TemporaryAgentOptions,
  type TemporaryWorkspace,
  temporaryAgent,
  temporaryWorkspace,
} from '@delta/testkit'
import { afterEach, onTestFinished } from 'vitest'
import {
  type ContinueRunOptions,
  continueRun,
  type RunAgentOptions,
  type RunResult,
  runAgent,
} from '../src/index.js'

/** What a scripted server receives in any test is in the record of the run. */
export const records = checkRecords(readBody)
afterEach(records.check)

/** An engine in a process of its own. */
export const PROGRAM = fileURLToPath(new URL('./engine-process.mjs', import.meta.url))

/** An agent and a workspace of this test, and runs in it. */
export async function scene(options: TemporaryAgentOptions, files: Record<string, string> = {}) {
  const agentFiles = await temporaryAgent({ ...options })
  const workspace = await temporaryWorkspace(files)
  onTestFinished(async () => {
    await agentFiles[Symbol.asyncDispose]()
    await workspace[Symbol.asyncDispose]()
  })
  const env = { PATH: process.env.PATH ?? '' }
  const { baseUrl } = options
  const given = { env, ...(baseUrl && { credentials: { apiKey: 'test-key-not-real', baseUrl } }) }
  const load = async () => (await loadAgent(agentFiles.path, { env })).agent

  /** Runs or continues the agent in another process, which kills itself with -9 after so many events. */
  const start = (killAfter: number | '' = '', more: NodeJS.ProcessEnv = {}) =>
    startProcess([process.execPath, PROGRAM, agentFiles.path, workspace.path, String(killAfter)], {
      env: { ...env, ...more },
    })

  return {
    agentFiles,
    workspace,
    load,
    start,
    /** Runs the agent in another process, which is killed with -9 as soon as `isTime` resolves. */
    runAndKill: async (isTime: () => Promise<unknown>): Promise<void> => {
      const engine = start()
      await isTime()
      engine.kill('SIGKILL')
      await engine.result
    },
    run: async (more: Partial<RunAgentOptions> = {}): Promise<RunResult> =>
      runAgent({ agent: await load(), workDirectory: workspace.path, message: 'Go', ...given, ...more }),
    resume: async (more: Partial<ContinueRunOptions> = {}): Promise<RunResult> =>
      continueRun({
        agent: await load(),
        trusted: true,
        workDirectory: workspace.path,
        ...given,
        ...more,
      }),
  }
}

/** A response with tool calls, each without arguments. */
export function calls(...names: string[]) {
  return { tool_calls: names.map((name) => ({ name, arguments: {} })) }
}

/** The journal of a run, each line parsed. */
export async function eventsOf({ runDirectory }: Pick<RunResult, 'runDirectory'>): Promise<StoredEvent[]> {
  const text = await readFile(join(runDirectory, 'journal.jsonl'), 'utf8')
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

/** The journal of the latest run in a workspace. */
export async function eventsIn(workspace: TemporaryWorkspace): Promise<StoredEvent[]> {
  const runId = (await workspace.read('.delta/LATEST')).trim()
  return eventsOf({ runDirectory: join(workspace.path, '.delta', runId) })
}

export async function eventsOfType(result: RunResult, type: string): Promise<StoredEvent[]> {
  return (await eventsOf(result)).filter((event) => event.type === type)
}

/** The `files` of an agent whose hooks are shell scripts. */
export function hooks(entries: Record<string, string>): Record<string, string> {
  const lines = Object.entries(entries).map(
    ([name, script]) => `${name}:\n  command: ${JSON.stringify(['sh', '-c', script])}\n`,
  )
  return { 'hooks.yaml': lines.join('') }
}

/** A hook's script that writes a file to its `output/`. */
export function output(file: string, text: string): string {
  return `echo '${text}' > "$DELTA_HOOK_IO_PATH/output/${file}"`
}

/** A hook's script that writes its `control.json`. */
export function control(decision: { action: string; observation?: string; reason?: string }): string {
  return output('control.json', JSON.stringify(decision))
}
