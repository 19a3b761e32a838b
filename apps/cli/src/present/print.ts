import type { Terminal } from '../terminal.js'
import { printable } from './printable.js'

/** Writes a result: every byte of it to a file or a pipe; to a terminal no control sequence. */
export function print(terminal: Terminal, text: string): void {
  terminal.stdout.write(terminal.stdout.isTTY ? printable(text) : text)
}
