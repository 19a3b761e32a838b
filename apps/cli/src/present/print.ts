import type { Terminal } from '../terminal/terminal.js'
import { printable } from './printable.js'

/** Writes a result: every byte of it to a file or a pipe; to a terminal no control sequence. */
export function print(terminal: Terminal, text: string): void {
  terminal.stdout.write(terminal.stdout.isTTY ? printable(text) : text)
}

/** How wide the screen is that shows the result; undefined where a file or a pipe takes it. */
export function screenWidth({ stdout }: Terminal): number | undefined {
  return stdout.isTTY && stdout.columns > 0 ? stdout.columns : undefined
}
