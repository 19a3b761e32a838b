import type { BigIntStats } from 'node:fs'
import { mkdir, rename, stat, utimes, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import {
  type CommandOutcome,
  commandEnvironment,
  credentialsOf,
  quoteCommand,
  runCommand,
  startsDelta,
} from '@delta/executor'
import type { ContextCommand } from './manifest.js'
import { isSettled, stampOf } from './stamp.js'
import { type ContextVariables, replaceVariables } from './variables.js'

export interface GeneratorContext {
  variables: ContextVariables
  environment: NodeJS.ProcessEnv
  /** Engine credentials by name, besides those in `environment`. */
  credentials?: Readonly<Record<string, string>>
  signal?: AbortSignal
}

export type Generated = { ok: true } | { ok: false; message: string; aborted: boolean }

/** Standard output may stand in for the file; no more than this of it. */
const MOST_STDOUT_BYTES = 16 * 1024 * 1024

/**
 * Runs a generator in the work directory, and makes sure that the file it was to write is new.
 *
 * The file's directory is made before. If the generator writes nothing to the file but prints, what it printed
 * becomes the file. If it fails, or writes neither, that is said: an older file is never taken for a new one.
 */
export async function runGenerator(
  generator: ContextCommand,
  outputPath: string,
  context: GeneratorContext,
): Promise<Generated> {
  try {
    return await generate(generator, outputPath, context)
  } catch (error) {
    if ((error as { syscall?: unknown }).syscall === undefined) throw error
    const { message } = error as Error
    return failed(`output_path ${outputPath} cannot be written (${message}). Name a file that can`)
  }
}

async function generate(
  generator: ContextCommand,
  outputPath: string,
  context: GeneratorContext,
): Promise<Generated> {
  await mkdir(dirname(outputPath), { recursive: true, mode: isPrivate(outputPath) ? 0o700 : 0o777 })
  const before = await stampBefore(outputPath)
  const outcome = await runContextCommand(generator, context)

  const command = `the generator ${quoteCommand(generator.command)}`
  const { status, exitCode, stdout } = outcome
  if (status !== 'EXITED' || exitCode !== 0)
    return failed(`${command} ${describeEnd(outcome, generator)}`, status === 'ABORTED')
  if ((await stampOfOutput(outputPath)) !== before) return { ok: true }
  if (stdout.bytes === 0)
    return failed(
      `${command} neither wrote ${outputPath} nor printed anything; one that finds nothing to say touches the file`,
    )
  if (stdout.omittedBytes > 0)
    return failed(`${command} printed ${stdout.bytes} bytes; at most ${MOST_STDOUT_BYTES} are taken`)
  await replaceFile(outputPath, stdout.head)
  return { ok: true }
}

function failed(message: string, aborted = false): Generated {
  return { ok: false, message, aborted }
}

/** Runs a command of `context.yaml` in the work directory, with the variables of the generator protocol. */
export function runContextCommand(
  { command, timeoutMs, passEnv }: ContextCommand,
  { variables, environment, credentials, signal }: GeneratorContext,
  stdin?: string,
): Promise<CommandOutcome> {
  const { AGENT_HOME: agentHome, CWD: workDirectory, RUN_DIR: runDirectory } = variables
  const argv = command.map((word) => replaceVariables(word, variables))
  const isDelta = startsDelta(argv, { cwd: workDirectory, env: environment, trusted: environment })
  const passed = Object.entries({ ...credentialsOf(environment), ...credentials }).filter(
    ([name]) => passEnv.includes(name) || isDelta, // a sub-agent asks a model of its own
  )
  return runCommand(argv, {
    cwd: workDirectory,
    env: commandEnvironment(environment, {
      agentHome,
      workDirectory,
      runDirectory,
      runId: basename(runDirectory),
      journalPath: join(runDirectory, 'journal.jsonl'),
      extra: Object.fromEntries(passed),
    }),
    keepBytes: MOST_STDOUT_BYTES,
    timeoutMs,
    ...(stdin === undefined ? {} : { stdin }),
    ...(signal === undefined ? {} : { signal }),
  })
}

/** How a command ended that did not end well, with the beginning and the end of its complaint. */
export function describeEnd(outcome: CommandOutcome, { timeoutMs }: ContextCommand): string {
  return `${ending(outcome, timeoutMs)}${complaint(outcome)}`
}

function ending({ status, exitCode, signal, startError }: CommandOutcome, timeoutMs: number): string {
  switch (status) {
    case 'TIMEOUT':
      return `did not end within ${timeoutMs} ms (timeout_ms) and was stopped`
    case 'NOT_STARTED':
      return `could not be started: ${startError?.message.replace(/\.$/, '') ?? 'unknown reason'}`
    case 'ABORTED':
      return 'was stopped'
    case 'SIGNALED':
      return `was ended by ${signal}`
    default:
      return `ended with exit code ${exitCode}`
  }
}

function complaint({ stderr }: CommandOutcome): string {
  const text = stderr.text.trim()
  if (text === '') return ''
  return `:\n${text.length <= 600 ? text : `${text.slice(0, 300)}\n…\n${text.slice(-300)}`}`
}

/** The stamp of the last output; one so new that writing it again might not change it is first made a little older. */
async function stampBefore(path: string): Promise<string> {
  const status = await statIfThere(path)
  if (status === undefined || isSettled(status)) return stampOfOutput(path)
  await utimes(path, Number(status.atimeMs) / 1000, Number(status.mtimeMs) / 1000 - 1).catch(() => undefined) // not ours
  return stampOfOutput(path)
}

async function stampOfOutput(path: string): Promise<string> {
  const status = await statIfThere(path)
  return status === undefined ? 'missing' : stampOf(status)
}

async function statIfThere(path: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(path, { bigint: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** What a run keeps for itself is nobody else's to read. */
function isPrivate(path: string): boolean {
  return path.includes('/.delta/')
}

/** Nobody sees half a file; it is rebuilt in the next iteration, so it is not synced. */
async function replaceFile(path: string, bytes: Buffer): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`
  await writeFile(temporary, bytes, { mode: isPrivate(path) ? 0o600 : 0o666 })
  await rename(temporary, path)
}
