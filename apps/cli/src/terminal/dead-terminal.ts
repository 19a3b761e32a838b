import { closeSync, fstatSync, statSync } from 'node:fs'

/**
 * Lets a process end with its own exit code although its terminal is gone (a closed window, a lost connection). Node puts
 * the terminal's modes back when it leaves and aborts if that fails; a descriptor that is closed it leaves alone.
 */
export function closeDeadTerminals(): void {
  for (const fd of [0, 1, 2]) if (isDeadTerminal(fd)) closeSync(fd)
}

/** A device that was a terminal answers no more as one. */
function isDeadTerminal(fd: number): boolean {
  try {
    const status = fstatSync(fd)
    return status.isCharacterDevice() && status.rdev !== nowhere() && !isTerminal(fd)
  } catch {
    return false // closed already
  }
}

/** `/dev/null` is a device as well, and where most programs that call this one send its output. */
function nowhere(): number {
  return statSync('/dev/null').rdev
}

/** Loaded when it is needed: it brings the network with it. */
function isTerminal(fd: number): boolean {
  return process.getBuiltinModule('node:tty').isatty(fd)
}
