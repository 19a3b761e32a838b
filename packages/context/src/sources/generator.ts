import type { BigIntStats } from 'node:fs'
import { mkdir, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { replaceFile } from '@delta/durable'
import { quoteCommand, redactFile } from '@delta/executor'
import type { ContextCommand } from '../manifest/manifest.js'
import {
  type CommandContext,
  describeEnd,
  MOST_STDOUT_BYTES,
  redactorFor,
  runContextCommand,
} from './context-command.js'
import { whereItLeads } from './within-workspace.js'

export type Generated = { ok: true } | { ok: false; message: string; aborted: boolean }

/**
 * Runs a generator in the work directory, and makes sure that the file it was to write is new.
 *
 * The file's directory is made before. If the generator writes nothing to the file but prints, what it printed
 * becomes the file. If it fails, or writes neither, that is said: an older file is never taken for a new one.
 */
export async function runGenerator(
  generator: ContextCommand,
  outputPath: string,
  context: CommandContext,
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
  context: CommandContext,
): Promise<Generated> {
  const elsewhere = whereItLeads(outputPath, context.variables)
  if (elsewhere !== undefined) return failed(leadsOut(outputPath, elsewhere))
  const mode = isPrivate(outputPath, context)
    ? { directory: 0o700, file: 0o600 }
    : { directory: 0o777, file: 0o666 }
  await mkdir(dirname(outputPath), { recursive: true, mode: mode.directory })
  await ignoreInGit(outputPath)
  const before = await stampBefore(outputPath)
  const outcome = await runContextCommand(generator, context)

  const command = `the generator ${quoteCommand(generator.command)}`
  const { status, exitCode, stdout } = outcome
  if (status !== 'EXITED' || exitCode !== 0)
    return failed(`${command} ${describeEnd(outcome, generator)}`, status === 'ABORTED')
  if ((await stampOfOutput(outputPath)) !== before) {
    const leads = whereItLeads(outputPath, context.variables)
    if (leads !== undefined) return failed(leadsOut(outputPath, leads))
    const known = redactorFor(generator, context)
    if (known.active) redactFile(outputPath, known)
    return { ok: true }
  }
  if (stdout.bytes === 0)
    return failed(
      `${command} neither wrote ${outputPath} nor printed anything; one that finds nothing to say touches the file`,
    )
  if (stdout.omittedBytes > 0)
    return failed(`${command} printed ${stdout.bytes} bytes; at most ${MOST_STDOUT_BYTES} are taken`)
  replaceFile(outputPath, stdout.head, { mode: mode.file, sync: false }) // it can be made again
  return { ok: true }
}

function leadsOut(outputPath: string, elsewhere: string): string {
  return `output_path ${outputPath} is a link that leads out of the workspace, to ${elsewhere}. Remove the link`
}

function failed(message: string, aborted = false): Generated {
  return { ok: false, message, aborted }
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
function isPrivate(path: string, { variables }: CommandContext): boolean {
  return path.includes(IN_DELTA) || path.startsWith(`${variables.RUN_DIR}/`)
}

const IN_DELTA = '/.delta/'

/** Where runs are kept outside the workspace, nothing but this makes `.delta` in it: git is not to see it. */
async function ignoreInGit(path: string): Promise<void> {
  const end = path.lastIndexOf(IN_DELTA)
  if (end < 0) return
  const name = `${path.slice(0, end + IN_DELTA.length)}.gitignore`
  await writeFile(name, '*\n', { flag: 'wx', mode: 0o600 }).catch(() => undefined) // it is there, or the output fails, too
}

/** Some clocks of file systems tick as rarely as this: what was written since may be written again unnoticed. */
const TICK_MS = 50

/** Changes whenever a file is written or replaced, even with the same text; see `isSettled`. */
export function stampOf({ mtimeNs, ctimeNs, size, ino }: BigIntStats): string {
  return `${mtimeNs} ${ctimeNs} ${size} ${ino}`
}

/** True if the next write is sure to change the file's stamp. */
function isSettled({ mtimeMs, ctimeMs }: BigIntStats): boolean {
  const latest = mtimeMs > ctimeMs ? mtimeMs : ctimeMs
  return Date.now() - Number(latest) > TICK_MS
}
