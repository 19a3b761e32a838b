import { closeSync, fstatSync, statSync } from 'node:fs'

/**
 * Lets a process end with its own exit code although its terminal is gone (a closed window, a lost connection). Node.js
 * restores the terminal's modes on exit and aborts if that fails; it leaves closed descriptors alone.
 */
export function closeDeadTerminals(): void {
  for (const fd of [0, 1, 2]) if (isDeadTerminal(fd)) closeSync(fd)
}

/** A device that was a terminal, but no longer responds as one. */
function isDeadTerminal(fd: number): boolean {
  try {
    const status = fstatSync(fd)
    return status.isCharacterDevice() && status.rdev !== nowhere() && !isTerminal(fd)
  } catch {
    return false // closed already
  }
}

/** `/dev/null` is a device, too, and where other programs often send our output. */
function nowhere(): number {
  return statSync('/dev/null').rdev
}

/** `node:tty` is loaded only when needed, because it loads networking code. */
function isTerminal(fd: number): boolean {
  return process.getBuiltinModule('node:tty').isatty(fd)
}
