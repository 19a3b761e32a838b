import { chmodSync, copyFileSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { syncPath } from '@delta/durable'

/** Creates a directory only its owner can enter. */
export function makePrivate(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
}

/**
 * Copies the files and directories below `from` into `to`, readable by their owner only, and waits until they are on the disk.
 * Links and other special files are left out: a record never was one.
 */
export function copyTree(
  from: string,
  to: string,
  { except = () => false }: { except?: (name: string) => boolean } = {},
): void {
  makePrivate(to)
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (except(entry.name)) continue
    if (entry.isDirectory()) copyTree(source, target)
    if (!entry.isFile()) continue
    copyFileSync(source, target)
    chmodSync(target, 0o600)
    syncPath(target)
  }
  syncPath(to)
}
