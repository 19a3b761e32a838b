import type { Terminal } from '../terminal/terminal.js'
import { printable } from './text.js'

/** Writes a result: byte for byte to a file or a pipe, without control sequences to a terminal. */
export function print(terminal: Terminal, text: string): void {
  terminal.stdout.write(terminal.stdout.isTTY ? printable(text) : text)
}

/** An answer and one newline. */
export function printAnswer(terminal: Terminal, answer: string): void {
  print(terminal, `${answer.replace(/\n$/, '')}\n`)
}

/** The same for a program: any value as JSON. */
export function printJson(terminal: Terminal, value: unknown): void {
  print(terminal, `${JSON.stringify(value, null, 2)}\n`)
}

/** Tells a person something besides the result, in lines of its own. */
export function say({ stderr }: Terminal, text: string): void {
  stderr.write(`${printable(text)}\n`)
}
