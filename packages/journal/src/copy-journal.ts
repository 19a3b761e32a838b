import { existsSync, readFileSync } from 'node:fs'
import { replaceFile } from './replace.js'
import type { RunPaths } from './run-paths.js'

/**
 * Gives the logs of a run new inodes.
 *
 * An owner that cannot be seen may still hold them open. Whatever it writes, should it
 * come back, then goes into files that no longer have a name.
 */
export function copyToNewInode({ journal, parts }: Pick<RunPaths, 'journal' | 'parts'>): void {
  for (const path of [journal, parts]) {
    if (existsSync(path)) replaceFile(path, readFileSync(path))
  }
}
