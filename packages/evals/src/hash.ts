import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, readdir, readlink } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { isInside } from '@delta/durable/internal'
import { EvaluationError } from './errors.js'

/** JSON with sorted keys and without blanks: equal values have equal texts. Keys without a value are left out. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  entries.sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(',')}}`
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

export function hashOf(value: unknown): string {
  return sha256(canonicalJson(value))
}

/** The first 31 bits of a SHA-256. */
export function seedOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) >>> 1
}

/** Which entries of a directory count. */
export interface Tree {
  /** False leaves out what lies at this path, which is relative. */
  counts?: (path: string) => boolean
}

/**
 * The hash of a directory: names, permissions to execute, contents and links, not times. A missing directory has that of an empty one.
 *
 * @throws {EvaluationError} `ERR_EVAL_PLAN`: a link leads out, or something in it is neither file, directory nor link.
 */
export async function hashOfTree(
  directory: string | undefined,
  { counts = () => true }: Tree = {},
): Promise<string> {
  const hash = createHash('sha256')
  if (directory !== undefined) await addTree(directory, '', { directory, counts, hash })
  return hash.digest('hex')
}

interface Hashing extends Required<Tree> {
  directory: string
  hash: ReturnType<typeof createHash>
}

async function addTree(path: string, name: string, hashing: Hashing): Promise<void> {
  const names = (await readdir(path)).sort()
  for (const each of names) {
    const inner = name === '' ? each : `${name}/${each}`
    if (hashing.counts(inner)) await addEntry(join(path, each), inner, hashing)
  }
}

async function addEntry(path: string, name: string, hashing: Hashing): Promise<void> {
  const { directory, hash } = hashing
  const what = await lstat(path)
  if (what.isDirectory()) {
    hash.update(`directory ${name}\0`)
    return addTree(path, name, hashing)
  }
  if (what.isSymbolicLink()) {
    const target = await readlink(path)
    if (isAbsolute(target)) throw refused(path, `it is a link to ${target}, which leads out of a copy`)
    if (!isInside(resolve(dirname(path), target), directory))
      throw refused(path, `it is a link to ${target}, which lies outside`)
    hash.update(`link ${name}\0${target}\0`)
    return
  }
  if (!what.isFile()) throw refused(path, 'it is neither a file, a directory nor a link')
  hash.update(`file ${name}\0${(what.mode & 0o111) !== 0 ? 'x' : '-'}${what.size}\0`)
  if (what.size > 0)
    await pipeline(createReadStream(path), async (chunks) => {
      for await (const chunk of chunks) hash.update(chunk)
    })
}

function refused(path: string, why: string): EvaluationError {
  return new EvaluationError('ERR_EVAL_PLAN', `${relative('', path)}: ${why}. An evaluation cannot keep it.`)
}
