import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'

// Files beside the program that spare later starts some work, and may be missing, unwritable or deleted at any time.

/** Changes with every build of the file at `path`. */
export function stampOf(path: string): string {
  const { size, mtimeMs } = statSync(path)
  return `${size}-${Math.round(mtimeMs)}`
}

export function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined // missing or unreadable: the work is done again
  }
}

/** Nobody ever sees half of it. */
export function replaceFile(path: string, data: Buffer | string, options: { mode?: number } = {}): void {
  const beside = `${path}.${process.pid}`
  writeFileSync(beside, data, options)
  renameSync(beside, path)
}
