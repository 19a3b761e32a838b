import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import type { NewEvent, StoredEvent } from './of-runs.js'

/** Runs when the test has ended, last one first. */
export function afterTest(cleanup: () => void): void {
  onTestFinished(cleanup)
}

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'journal-'))
  afterTest(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** A journal file with exactly this content. */
export function journalFile(content: string | Buffer): string {
  const path = join(temporaryDirectory(), 'journal.jsonl')
  writeFileSync(path, content)
  return path
}

export function toLines(events: object[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join('')
}

const timestamp = '2026-11-20T09:30:00.000Z'

export function message(seq: number, content = `message ${seq}`): StoredEvent {
  return { seq, timestamp, type: 'USER_MESSAGE', content }
}

export function firstEvents({ runId, epoch }: { runId: string; epoch: number }): NewEvent[] {
  return [
    {
      type: 'ENGINE_START',
      run_id: runId,
      agent_name: 'greeter',
      task: 'say hi',
      engine: { epoch },
      resumed: false,
    },
    { type: 'USER_MESSAGE', content: 'say hi' },
  ]
}

export function thought(iteration: number, ...ids: string[]): NewEvent {
  return {
    type: 'THOUGHT',
    iteration,
    content: `thought ${iteration}`,
    tool_calls: ids.map((id) => ({ id, action_id: id, name: 'echo', arguments: '{"text":"hi"}' })),
    usage: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 },
  }
}

function request(iteration: number, id: string): NewEvent {
  return {
    type: 'ACTION_REQUEST',
    iteration,
    action_id: id,
    attempt: 1,
    tool_name: 'echo',
    argv: ['echo', 'hi'],
  }
}

function result(iteration: number, id: string): NewEvent {
  return {
    type: 'ACTION_RESULT',
    iteration,
    action_id: id,
    tool_name: 'echo',
    status: 'SUCCESS',
    exit_code: 0,
    observation_content: 'hi\n',
    duration_ms: 3,
  }
}

/** One event of every type, with fields of every kind. */
export function oneOfEach(): StoredEvent[] {
  const events: NewEvent[] = [
    ...firstEvents({ runId: 'r', epoch: 1 }),
    thought(1, 'a'),
    request(1, 'a'),
    result(1, 'a'),
    {
      type: 'HUMAN_INPUT_REQUEST',
      iteration: 1,
      request_id: 'q',
      prompt: 'Well?',
      input_type: 'text',
      sensitive: false,
    },
    { type: 'HUMAN_INPUT_RECEIVED', iteration: 1, request_id: 'q', response: 'Yes – "so" it is\n' },
    { type: 'SYSTEM_MESSAGE', level: 'WARN', content: 'mind the gap' },
    {
      type: 'HOOK_EXECUTION_AUDIT',
      hook_name: 'on_error',
      status: 'SUCCESS',
      io_path_ref: 'io/hooks/x',
      duration_ms: 1.5,
    },
    { type: 'ERROR', error_message: 'HTTP 429', error_details: { attempt: 1 }, recoverable: true },
    {
      type: 'SNAPSHOT',
      iteration: 1,
      snapshot_id: '4b825dc6',
      changed: 2,
      bytes: 120,
      omitted: [],
      omitted_count: 0,
    },
    { type: 'ENGINE_END', run_id: 'r', status: 'COMPLETED', final_iteration: 1, reason: null },
  ]
  return events.map((event, index) => ({ seq: index + 1, timestamp, ...event }) as StoredEvent)
}

/** Child processes run the built package, as users do. */
export function needsBuild(): void {
  if (!existsSync(join(import.meta.dirname, '..', 'dist', 'index.js'))) {
    throw new Error('packages/journal/dist is missing: build the package before its tests.')
  }
}

export interface Child {
  process: ChildProcess
  /** Resolves with the next line the child prints. */
  line(): Promise<string>
  say(text: string): void
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

/** Runs a script of test/ against the built package. */
export function runChild(script: string, args: string[] = [], env: Record<string, string> = {}): Child {
  needsBuild()
  const child = spawn(process.execPath, [join(import.meta.dirname, script), ...args], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  afterTest(() => child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    process: child,
    line: async () => ((await lines.next()).value as string | undefined) ?? 'ended',
    say: (text) => child.stdin.write(`${text}\n`),
    ended: once(child, 'exit').then(([code, signal]) => ({ code, signal })),
  }
}

export function readText(path: string): string {
  return readFileSync(path, 'utf8')
}

/** Which files this process has open. Linux only. */
export function openFiles(): string[] {
  return readdirSync('/proc/self/fd').map((name) => linkOf(`/proc/self/fd/${name}`))
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return '' // that of the reading itself
  }
}
