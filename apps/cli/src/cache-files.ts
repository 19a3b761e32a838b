import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

// Files beside the program that save later starts some work. They may be missing, unwritable or deleted at any time.

/** Changes with every build of the file at `path`. */
export function stampOf(path: string): string {
  const { size, mtimeMs } = statSync(path)
  return `${size}-${Math.round(mtimeMs)}`
}

/** This program writes no larger file. */
const MOST_BYTES = 256 * 1024 * 1024

export function readIfThere(path: string): Buffer | undefined {
  try {
    const status = statSync(path) // reading a pipe would block, and a device has no end
    return status.isFile() && status.size <= MOST_BYTES ? readFileSync(path) : undefined
  } catch {
    return undefined // missing or unreadable: the work is done again
  }
}

/** Nobody ever reads half of the file. Only its owner may write it, whatever the umask, because it decides what runs. */
export function replaceFile(path: string, data: Buffer | string, mode = 0o644): void {
  const beside = `${path}.${process.pid}`
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 })
  try {
    writeFileSync(beside, data, { mode })
    renameSync(beside, path)
  } catch (error) {
    rmSync(beside, { force: true }) // the disk may be full
    throw error
  }
}
