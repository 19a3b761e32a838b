import { createHash } from 'node:crypto'
import { type BigIntStats, readFileSync, statSync, utimesSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { createFile, readIfThere, replaceFile } from '@delta/durable'
import { makeDirectories } from '@delta/durable/internal'
import { quoteCommand } from '@delta/executor'
import { redactFile } from '@delta/executor/internal'
import picomatch from 'picomatch'
import { type CommandOptions, describeEnd, MAX_STDOUT_BYTES, runContextCommand } from './command.js'
import { ContextError } from './errors.js'
import { type ComputedFileSource, globExpression, sourceName } from './manifest.js'
import { replaceVariables, whereItLeads } from './variables.js'

/**
 * Makes the output of a source by its generator. With `cache`, an output that was made from the same files is kept.
 *
 * @param path - Path of the output.
 * @returns A note about the output, or why there is no new one.
 * @throws {ContextError} `ERR_CONTEXT_ABORTED`.
 */
export async function makeOutput(
  source: ComputedFileSource,
  path: string,
  options: CommandOptions,
): Promise<{ note?: string; failure?: string }> {
  const receipt = `${path}.inputs.json`
  const last = source.cache && readIfPossible(receipt)
  if (last !== undefined && last === (await receiptFor(source, path, options))) return { note: 'from cache' }
  const failure = await runGenerator(source, path, options)
  if (failure !== undefined) return { failure }
  if (source.cache === undefined) return {}
  const made = await receiptFor(source, path, options)
  try {
    replaceFile(receipt, made, { mode: 0o666, sync: false })
  } catch {
    // Without a receipt the generator runs again next time.
  }
  return {}
}

function readIfPossible(path: string): string | undefined {
  try {
    return readIfThere(path)?.toString()
  } catch {
    return undefined // a directory, say: the generator runs
  }
}

/**
 * Runs a generator in the work directory. If it does not write the file, what it prints becomes the file, also if that is
 * nothing. An older file never passes for a new one.
 *
 * @returns Why there is no new file; undefined if there is one.
 */
async function runGenerator(
  source: ComputedFileSource,
  path: string,
  options: CommandOptions,
): Promise<string | undefined> {
  try {
    return leadsOut(path, options) ?? (await generate(source, path, options))
  } catch (error) {
    if ((error as { syscall?: unknown }).syscall === undefined) throw error
    return `output_path ${path} cannot be written (${(error as Error).message}). Name a file that can`
  }
}

function leadsOut(path: string, { variables }: CommandOptions): string | undefined {
  const elsewhere = whereItLeads(path, variables)
  if (elsewhere === undefined) return undefined
  return `output_path ${path} is a link that leads out of the workspace, to ${elsewhere}. Remove the link`
}

async function generate(
  source: ComputedFileSource,
  path: string,
  options: CommandOptions,
): Promise<string | undefined> {
  const { generator } = source
  // other users may not read the files of a run
  const isPrivate = path.includes(IN_DELTA) || path.startsWith(`${options.variables.RUN_DIR}/`)
  makeDirectories(dirname(path), isPrivate ? 0o700 : 0o777)
  ignoreInGit(path)
  makeOlder(path)
  const before = stampAt(path)
  const { outcome, known } = await runContextCommand(generator, options)

  const command = `the generator ${quoteCommand(generator.command)}`
  const { status, exitCode, stdout } = outcome
  const ending = `${command} ${describeEnd(outcome, generator)}`
  if (status === 'ABORTED') throw stopped(source, ending)
  if (status !== 'EXITED' || exitCode !== 0) return ending
  if (stampAt(path) !== before) {
    const refusal = leadsOut(path, options)
    if (refusal === undefined && known.active) redactFile(path, known)
    return refusal
  }
  if (stdout.omittedBytes > 0)
    return `${command} printed ${stdout.bytes} bytes; at most ${MAX_STDOUT_BYTES} are taken`
  replaceFile(path, stdout.head, { mode: isPrivate ? 0o600 : 0o666, sync: false }) // it can be made again
  return undefined
}

function stopped(source: ComputedFileSource, what: string): ContextError {
  const name = sourceName(source)
  return new ContextError('ERR_CONTEXT_ABORTED', `context.yaml: the source "${name}": ${what}`, name)
}

const IN_DELTA = '/.delta/'

/** Hides `.delta` from git where the runs are kept elsewhere, and nothing else creates it in the workspace. */
function ignoreInGit(path: string): void {
  const end = path.lastIndexOf(IN_DELTA)
  if (end < 0) return
  try {
    createFile(`${path.slice(0, end + IN_DELTA.length)}.gitignore`, '*\n', { sync: false })
  } catch {
    // It exists, or the output fails, too.
  }
}

/** Makes a file a second older: some file systems' clocks tick so rarely that a new file might look the same. */
function makeOlder(path: string): void {
  try {
    const { atime, mtimeMs } = statSync(path)
    utimesSync(path, atime, mtimeMs / 1000 - 1)
  } catch {
    // It does not exist, or is not ours.
  }
}

function stampAt(path: string): string {
  const status = statSync(path, { bigint: true, throwIfNoEntry: false })
  return status === undefined ? 'missing' : stampOf(status)
}

/** Changes whenever a file is written or replaced, even with the same text. */
function stampOf({ mtimeNs, ctimeNs, size, ino }: BigIntStats): string {
  return `${mtimeNs} ${ctimeNs} ${size} ${ino}`
}

/**
 * The hashes of an output's inputs, and of the output: a changed one is made anew. The receipt lies beside the output. Deleting it
 * costs a run of the generator.
 */
async function receiptFor(
  source: ComputedFileSource,
  path: string,
  { variables, signal }: CommandOptions,
): Promise<string> {
  const { generator, cache } = source
  const patterns = (cache?.invalidateOn ?? []).map((pattern) => replaceVariables(pattern, variables))
  const hashes = new Map<string, string>()
  for (const pattern of patterns) {
    for await (const file of matchingFiles(pattern, variables.CWD)) {
      if (signal?.aborted)
        throw stopped(source, 'it was stopped while it looked at the files of invalidate_on')
      if (!hashes.has(file)) hashes.set(file, hashOf(file))
    }
  }
  const inputs = digest(JSON.stringify([generator.command, patterns, [...hashes].sort()]))
  return JSON.stringify({ inputs, output: hashOf(path) })
}

/** Larger files are compared by mtime and size: Node reads no file of 2 GiB. */
const MAX_HASHED_BYTES = 256 * 1024 * 1024

function hashOf(path: string): string {
  try {
    const status = statSync(path, { bigint: true })
    if (!status.isFile()) return 'no file' // a pipe blocks, a device never ends
    return status.size > MAX_HASHED_BYTES ? stampOf(status) : digest(readFileSync(path))
  } catch (error) {
    return `unreadable: ${(error as NodeJS.ErrnoException).code}` // without content
  }
}

function digest(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

/** The files that match a pattern, which is relative to `directory`; links to directories are not followed. */
async function* matchingFiles(pattern: string, directory: string): AsyncGenerator<string> {
  const written = relative(directory, resolve(directory, pattern)) // the directory's own name is not a pattern
  const { base, isGlob } = picomatch.scan(written)
  const expression = globExpression(written)
  for await (const file of filesUnder(resolve(directory, isGlob ? base : dirname(written))))
    if (expression.test(relative(directory, file))) yield file
}

/** Large directories without inputs of an agent. */
const NEVER_ENTERED = new Set(['.git', 'node_modules', '.delta'])
/** Deleted meanwhile, not readable, or nested too deeply. */
const CANNOT_BE_ENTERED = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'ENAMETOOLONG'])

async function* filesUnder(directory: string): AsyncGenerator<string> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (CANNOT_BE_ENTERED.has(error.code ?? '')) return []
    throw error
  })
  for (const entry of entries) {
    const path = join(directory, entry.name)
    if (!entry.isDirectory()) yield path
    else if (!NEVER_ENTERED.has(entry.name)) yield* filesUnder(path)
  }
}
