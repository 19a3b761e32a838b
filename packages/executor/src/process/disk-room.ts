import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'

/** True when nothing more can be written beside a file: what a command printed into it may then be lost in part. */
export function isDiskFull(path: string): boolean {
  try {
    const { blocks, bavail, bfree } = statfsSync(dirname(path))
    const free = process.getuid?.() === 0 ? bfree : bavail // some blocks are kept for root
    return blocks > 0 && free === 0 // file systems that have no blocks are never full
  } catch {
    return false // its directory is gone; whoever writes there next says so
  }
}
