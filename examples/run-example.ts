import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { runInProcess } from '../apps/cli/test/in-process.js'
import { readJournal } from '../packages/journal/dist/index.js'
import { isKnownEvent, type JournalEvent, runEventSchema } from '../packages/journal/dist/runs.js'
import {
  findExportProblem,
  type ProcessResult,
  type StartedProcess,
  startProcess,
  type TemporaryWorkspace,
  temporaryWorkspace,
} from '../packages/testkit/dist/index.js'
import { EXPORT_FORMATS, exportRun, findRuns, openTrace } from '../packages/trace/dist/index.js'

const DELTA = fileURLToPath(new URL('../apps/cli/bin.cjs', import.meta.url))
export const EXAMPLES = fileURLToPath(new URL('.', import.meta.url))

/** The real command line, without any key or address of the person who runs the tests. */
export function delta(args: string[], environment: Record<string, string> = {}): Promise<ProcessResult> {
  return startDelta(args, environment).result
}

/** The same, for tests that do something to it meanwhile. */
export function startDelta(
  args: string[],
  environment: Record<string, string> = {},
  options: { interactive?: boolean } = {},
): StartedProcess {
  const { PATH = '', HOME = '', DELTA_STATE_DIR = '' } = process.env
  return startProcess([process.execPath, DELTA, ...args], {
    env: { PATH, HOME, DELTA_STATE_DIR, ...environment },
    ...options,
  })
}

/** The same in the process of the test, which costs less: for what only reads. */
export function deltaHere(args: string[]): Promise<ProcessResult> {
  const { PATH, HOME, TMPDIR, DELTA_STATE_DIR } = process.env
  return runInProcess([process.execPath, DELTA, ...args], { env: { PATH, HOME, TMPDIR, DELTA_STATE_DIR } })
}

/** A workspace with the files of an example's `sample/` and further ones; goes away with the test. */
export async function workspaceOf(
  example: string,
  files: Record<string, string> = {},
): Promise<TemporaryWorkspace> {
  const workspace = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  onTestFinished(() => checkExports(workspace))
  onTestFinished(() => checkReplay(workspace))
  await cp(join(EXAMPLES, example, 'sample'), workspace.path, { recursive: true }).catch(unlessMissing)
  for (const [name, content] of Object.entries(files)) await workspace.write(name, content)
  return workspace
}

/** Every run of an example, however it ended, is taken by the readers of each format. */
export async function checkExports({ path }: Pick<TemporaryWorkspace, 'path'>): Promise<void> {
  for await (const { directory, status } of findRuns([path])) {
    const trace = await openTrace(directory)
    for (const format of status === 'EMPTY' ? [] : EXPORT_FORMATS) {
      const pieces: string[] = []
      for await (const piece of exportRun(trace, format, { content: true, subAgents: true }))
        pieces.push(piece)
      const problem = pieces.length === 0 ? undefined : await findExportProblem(format, pieces.join(''))
      if (problem !== undefined) throw new Error(`${directory} as ${format}: ${problem}`)
    }
  }
}

/** The latest run of an example, however it ended, is replayed without a command, a key or a network. */
async function checkReplay({ path }: TemporaryWorkspace): Promise<void> {
  const { exitCode, stdout, stderr } = await deltaHere(['replay', path])
  if (exitCode !== 0 || !stdout.startsWith('same: '))
    throw new Error(`delta replay ${path}: ${stdout}${stderr}`)
}

function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}

/** Runs an example as its README says, without waiting for the disk. */
export function runExample(
  example: string,
  workspace: TemporaryWorkspace,
  message: string,
): Promise<ProcessResult> {
  const agent = join(EXAMPLES, example)
  return delta(['run', '--agent', agent, '-w', workspace.path, '-m', message, '--new', '--no-sync'])
}

/** A copy of an example whose agent.yaml went through `change`; beside it, everything it stands on. */
export async function changedExample(
  example: string,
  change: (agentYaml: string) => string,
): Promise<string> {
  const copy = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  await cp(join(EXAMPLES, example), copy.path, { recursive: true })
  const path = join(copy.path, 'agent.yaml')
  await writeFile(path, change(await readFile(path, 'utf8')))
  return copy.path
}

/** The latest run's directory. */
export async function runDirectoryOf(workspace: TemporaryWorkspace): Promise<string> {
  return join(workspace.path, '.delta', (await workspace.read('.delta/LATEST')).trim())
}

/** The events of the latest run. */
export async function eventsOf(workspace: TemporaryWorkspace): Promise<JournalEvent[]> {
  const path = join(await runDirectoryOf(workspace), 'journal.jsonl')
  const { events } = await readJournal(path, { schema: runEventSchema })
  return events.filter(isKnownEvent)
}

/** What the model read of each call, in order: `[tool, status, observation]`. */
export async function resultsOf(workspace: TemporaryWorkspace): Promise<[string, string, string][]> {
  return (await eventsOf(workspace)).flatMap((event) =>
    event.type === 'ACTION_RESULT'
      ? [[event.tool_name, event.status, event.observation_content] as [string, string, string]]
      : [],
  )
}
