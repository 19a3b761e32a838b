import { randomUUID } from 'node:crypto'
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { StoredEvent } from '@delta/journal/runs'
import { type ProcessResult, runProcess, type StartedProcess, startProcess } from '@delta/testkit'

/** The command as it is installed. */
export const DELTA = fileURLToPath(new URL('../bin.cjs', import.meta.url))
export const EXAMPLES = fileURLToPath(new URL('../../../examples/', import.meta.url))

interface Options {
  cwd?: string
  env?: Record<string, string>
  input?: string
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

export function delta(args: string[], { env, ...options }: Options = {}): Promise<ProcessResult> {
  return runProcess([process.execPath, DELTA, ...args], { ...options, env: cleanEnvironment(env) })
}

export function startDelta(args: string[], { env, ...options }: Options = {}): StartedProcess {
  return startProcess([process.execPath, DELTA, ...args], { ...options, env: cleanEnvironment(env) })
}

/** Lists a run as this user's, as an engine does that starts one. */
export async function ownRun(runDirectory: string): Promise<void> {
  const { DELTA_STATE_DIR = '' } = process.env
  const token = randomUUID()
  await writeFile(join(runDirectory, 'owner'), token)
  await mkdir(DELTA_STATE_DIR, { recursive: true })
  const line = JSON.stringify({ token, path: runDirectory, inode: 0 })
  await appendFile(join(DELTA_STATE_DIR, 'runs.jsonl'), `${line}\n`)
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
