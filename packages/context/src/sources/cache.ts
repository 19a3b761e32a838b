import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setImmediate as othersFirst } from 'node:timers/promises'
import { replaceFile } from '@delta/durable'
import { ContextError } from '../errors.js'
import { matchingFiles } from '../manifest/glob.js'
import type { ComputedFileSource } from '../manifest/manifest.js'
import { sourceName } from '../manifest/manifest.js'
import { type ContextVariables, replaceVariables } from '../manifest/variables.js'
import { stampOf } from './generator.js'

/** What an output was made from, kept beside it. Deleting it costs a run of the generator, nothing else. */
interface Receipt {
  /** Of the generator's command and all inputs. */
  inputs: string
  /** Of the output itself: one that somebody changed is made anew. */
  output: string
}

/** An output, and what it depends on. */
interface Made {
  source: ComputedFileSource
  text: string
  variables: ContextVariables
  signal?: AbortSignal | undefined
}

/** Between so many files a signal is looked for: there may be very many. */
const FILES_AT_A_TIME = 100
/** Larger files are compared by mtime and size: Node reads no file of 2 GiB, and nobody waits for one. */
const LONGEST_HASHED_BYTES = 256 * 1024 * 1024

/** Undefined for a source without `cache`, and for one whose output was not made yet. */
export async function readReceipt(
  { cache }: ComputedFileSource,
  path: string,
): Promise<Partial<Receipt> | undefined> {
  if (cache === undefined) return undefined
  try {
    return JSON.parse(await readFile(receiptPath(path), 'utf8')) as Partial<Receipt>
  } catch {
    return undefined // missing or damaged: the generator runs, which is always right
  }
}

/** True if the output was made from exactly the files that are there now. */
export async function isFresh(receipt: Partial<Receipt> | undefined, made: Made): Promise<boolean> {
  return receipt?.output === digest(made.text) && receipt.inputs === (await hashInputs(made))
}

/** Notes what the output at `path` was just made from. Does nothing for a source without `cache`. */
export async function remember(path: string, made: Made): Promise<void> {
  if (made.source.cache === undefined) return
  const receipt: Receipt = { inputs: await hashInputs(made), output: digest(made.text) }
  try {
    replaceFile(receiptPath(path), JSON.stringify(receipt), { mode: 0o666, sync: false })
  } catch {
    // Without a receipt the generator runs the next time, too, which is always right.
  }
}

function receiptPath(path: string): string {
  return `${path}.inputs.json`
}

/** @throws {ContextError} `ERR_CONTEXT_ABORTED`. */
async function hashInputs({ source, variables, signal }: Made): Promise<string> {
  const { generator, cache } = source
  const patterns = (cache?.invalidateOn ?? []).map((pattern) => replaceVariables(pattern, variables))
  const hash = createHash('sha256').update(JSON.stringify([generator.command, patterns]))
  const files = await matchingFiles(patterns, variables.CWD)
  for (const [index, file] of files.entries()) {
    if (index % FILES_AT_A_TIME === 0) await goOnUnless(signal, source)
    hash.update(JSON.stringify([file, hashOf(file)]))
  }
  return hash.digest('hex')
}

async function goOnUnless(signal: AbortSignal | undefined, source: ComputedFileSource): Promise<void> {
  await othersFirst()
  if (!signal?.aborted) return
  const name = sourceName(source)
  const message = `context.yaml: the source "${name}": it was stopped while it looked at the files of invalidate_on`
  throw new ContextError('ERR_CONTEXT_ABORTED', message, { source: name })
}

/** By content. Blocking: promises take ten times as long. */
function hashOf(path: string): string {
  try {
    const status = statSync(path, { bigint: true })
    if (!status.isFile()) return 'no file' // a pipe would be waited for, a device never ends
    return status.size > LONGEST_HASHED_BYTES ? stampOf(status) : digest(readFileSync(path))
  } catch (error) {
    return `unreadable: ${(error as NodeJS.ErrnoException).code}` // no content it could be told by
  }
}

function digest(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}
