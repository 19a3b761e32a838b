import { spawnSync } from 'node:child_process'
import { temporaryWorkspace } from './workspace.js'

/** A file system of its own, for what happens on a disk that is full or may only be read. */
export interface SmallDisk {
  readonly path: string
  /** False where nobody may mount one: then `path` is an ordinary directory, and the test is to be skipped. */
  readonly mounted: boolean
  makeReadOnly(): void
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Mounts a small file system in memory; it goes away at the end of an `await using` scope. Mounting takes root. Where it
 * is refused, that is said on stderr, for a test that did not run looks like one that passed.
 *
 * @param options - Of `mount` for a tmpfs: `size=400k`, `nr_inodes=60`.
 */
export async function smallDisk(options = 'size=400k'): Promise<SmallDisk> {
  const directory = await temporaryWorkspace()
  const { path } = directory
  const mount = (...words: string[]): boolean => spawnSync('mount', words).status === 0
  const mounted = mount('-t', 'tmpfs', '-o', options, 'tmpfs', path)
  if (!mounted)
    console.warn('SKIPPED: no file system can be mounted here, so full and read-only disks are not tested.')
  return {
    path,
    mounted,
    makeReadOnly: () => void mount('-o', 'remount,ro', path),
    async [Symbol.asyncDispose]() {
      if (mounted) spawnSync('umount', ['-l', path]) // also while something on it is still open
      await directory.remove()
    },
  }
}
