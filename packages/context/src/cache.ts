import { createHash } from 'node:crypto'
import { readFile, rename, stat, writeFile } from 'node:fs/promises'
import { matchingFiles } from './glob.js'
import type { ComputedFileSource } from './manifest.js'
import { isSettled, stampOf } from './stamp.js'
import { type ContextVariables, replaceVariables } from './variables.js'

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
}

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
  const temporary = `${receiptPath(path)}.${process.pid}.tmp`
  await writeFile(temporary, JSON.stringify(receipt))
  await rename(temporary, receiptPath(path))
}

function receiptPath(path: string): string {
  return `${path}.inputs.json`
}

async function hashInputs({ source: { generator, cache }, variables }: Made): Promise<string> {
  const patterns = (cache?.invalidateOn ?? []).map((pattern) => replaceVariables(pattern, variables))
  const hash = createHash('sha256').update(JSON.stringify([generator.command, patterns]))
  for (const file of await matchingFiles(patterns, variables.CWD)) {
    hash.update(JSON.stringify([file, await hashOf(file)]))
  }
  return hash.digest('hex')
}

interface Hashed {
  stamp: string
  hash: string
}

const hashes = new Map<string, Hashed>()

/** By content; a file that was not touched since is not read again by this process. */
async function hashOf(path: string): Promise<string | undefined> {
  try {
    const status = await stat(path, { bigint: true })
    if (!status.isFile()) return 'no file' // a pipe would be waited for, a device never ends
    const stamp = stampOf(status)
    const known = hashes.get(path)
    if (known?.stamp === stamp) return known.hash
    const hash = digest(await readFile(path))
    if (isSettled(status)) hashes.set(path, { stamp, hash })
    return hash
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? undefined : `unreadable: ${code}` // no content it could be told by
  }
}

function digest(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}
