import { createHash } from 'node:crypto'
import { readFile, rename, stat, writeFile } from 'node:fs/promises'
import { matchingFiles } from './glob.js'
import type { ComputedFileSource } from './manifest.js'
import { type ContextVariables, replaceVariables } from './variables.js'

/** What an output was made from, kept beside it. Deleting it costs a run of the generator, nothing else. */
interface Receipt {
  /** Of the generator's command and all inputs. */
  inputs: string
  /** Of the output itself: one that somebody changed is made anew. */
  output: string
}

/** True if the output at `path` was made from exactly the files that are there now. */
export async function isFresh(
  source: ComputedFileSource,
  path: string,
  variables: ContextVariables,
): Promise<boolean> {
  if (source.cache === undefined) return false
  const receipt = await readReceipt(path)
  if (receipt === undefined || receipt.output !== (await hashOf(path))) return false
  return receipt.inputs === (await hashInputs(source, variables))
}

/** Notes what the output at `path` was just made from. Does nothing for a source without `cache`. */
export async function remember(
  source: ComputedFileSource,
  path: string,
  variables: ContextVariables,
): Promise<void> {
  const output = source.cache === undefined ? undefined : await hashOf(path)
  if (output === undefined) return
  const receipt: Receipt = { inputs: await hashInputs(source, variables), output }
  const temporary = `${receiptPath(path)}.${process.pid}.tmp`
  await writeFile(temporary, JSON.stringify(receipt))
  await rename(temporary, receiptPath(path))
}

function receiptPath(path: string): string {
  return `${path}.inputs.json`
}

async function readReceipt(path: string): Promise<Partial<Receipt> | undefined> {
  try {
    return JSON.parse(await readFile(receiptPath(path), 'utf8')) as Partial<Receipt>
  } catch {
    return undefined // missing or damaged: the generator runs, which is always right
  }
}

async function hashInputs(
  { generator, cache }: ComputedFileSource,
  variables: ContextVariables,
): Promise<string> {
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
    const { mtimeNs, ctimeNs, size, ino } = await stat(path, { bigint: true })
    const stamp = `${mtimeNs} ${ctimeNs} ${size} ${ino}`
    const known = hashes.get(path)
    if (known?.stamp === stamp) return known.hash
    const hash = createHash('sha256')
      .update(await readFile(path))
      .digest('hex')
    hashes.set(path, { stamp, hash })
    return hash
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
