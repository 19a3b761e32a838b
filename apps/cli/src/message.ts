import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { explainSystemError } from './system-error.js'
import type { Terminal } from './terminal.js'
import { UsageError } from './usage-error.js'

/** The message of `-m`: the text itself, `-` for all of stdin, `@file` for a file. One final newline is dropped from both. */
export async function readMessage(
  value: string | undefined,
  terminal: Terminal,
): Promise<string | undefined> {
  if (value === undefined) return undefined
  const message = await read(value, terminal)
  if (message.trim() === '')
    throw new UsageError(`The message (-m ${value}) is empty. Say what is to be done.`)
  return message
}

async function read(value: string, terminal: Terminal): Promise<string> {
  if (value === '-') return withoutFinalNewline(await text(terminal.stdin))
  if (!value.startsWith('@')) return value
  const path = resolve(terminal.cwd, value.slice(1))
  try {
    return withoutFinalNewline(await readFile(path, 'utf8'))
  } catch (cause) {
    throw new UsageError(`-m ${value}: ${explainSystemError(cause) ?? (cause as Error).message}`, { cause })
  }
}

function withoutFinalNewline(message: string): string {
  return message.replace(/\r?\n$/, '')
}
