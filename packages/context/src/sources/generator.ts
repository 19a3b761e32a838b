import type { BigIntStats } from 'node:fs'
import { mkdir, stat, utimes } from 'node:fs/promises'
import { dirname } from 'node:path'
import { quoteCommand, redactFile } from '@delta/executor'
import type { ContextCommand } from '../manifest/manifest.js'
import {
  type CommandContext,
  describeEnd,
  MOST_STDOUT_BYTES,
  redactorFor,
  runContextCommand,
} from './context-command.js'
import { isSettled, stampOf } from './stamp.js'
import { whereItLeads } from './within-workspace.js'
import { writeByRename } from './write-by-rename.js'

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
  await mkdir(dirname(outputPath), { recursive: true, mode: isPrivate(outputPath) ? 0o700 : 0o777 })
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
  await writeByRename(outputPath, stdout.head, isPrivate(outputPath) ? 0o600 : 0o666)
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
function isPrivate(path: string): boolean {
  return path.includes('/.delta/')
}
