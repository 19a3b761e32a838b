import { lstatSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** What tells a directory from a copy of it. */
export interface Identity {
  dev: number
  inode: number
  /** When it was made, in nanoseconds: the system gives the inode of a removed one to another. */
  born: string
}

export function identityOf(runDirectory: string): Identity {
  const { dev, ino, birthtimeNs } = statSync(runDirectory, { bigint: true })
  return { dev: Number(dev), inode: Number(ino), born: String(birthtimeNs) }
}

/** A longer file is not ours. Bytes. */
const MOST_BYTES = 100

export function tokenIn(runDirectory: string): string | undefined {
  const path = join(runDirectory, 'owner')
  const what = lstatSync(path, { throwIfNoEntry: false })
  if (!what?.isFile() || what.size > MOST_BYTES) return undefined
  const token = readFileSync(path, 'utf8').trim()
  return /^[0-9a-f]{32}$/.test(token) ? token : undefined
}
