import { closeSync, fstatSync } from 'node:fs'
import { isatty } from 'node:tty'

/**
 * Lets a process end with its own exit code although its terminal is gone (a closed window, a lost connection). Node puts
 * the terminal's modes back when it leaves and aborts if that fails; a descriptor that is closed it leaves alone.
 */
export function closeDeadTerminals(): void {
  for (const fd of [0, 1, 2]) if (isDeadTerminal(fd)) closeSync(fd)
}

/** A device that was a terminal answers no more as one. So does `/dev/null`, which nobody misses at the end. */
function isDeadTerminal(fd: number): boolean {
  try {
    return fstatSync(fd).isCharacterDevice() && !isatty(fd)
  } catch {
    return false // closed already
  }
}
