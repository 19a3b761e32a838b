import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import type { Terminal } from '../terminal/terminal.js'
import { explainSystemError, UsageError } from '../usage.js'

/** A message is sent with every request, and no model takes this much. */
const LONGEST_MEGABYTES = 10
const AS_A_FILE = 'Put it into a file in the workspace, and name that file in the message.'

/**
 * The message of `-m`: the text itself, `-` for all of stdin, `@file` for a file. One final newline is dropped from both.
 * Anything that is not text is refused, never converted.
 */
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
  if (value === '-' && terminal.stdin.isTTY)
    terminal.stderr.write('Type the message; it is shown. End it with Ctrl+D on a new line:\n')
  if (value === '-') return toText(await readBytes(terminal.stdin, value), value)
  if (!value.startsWith('@')) return value
  const path = resolve(terminal.cwd, value.slice(1))
  try {
    return toText(await readBytes(createReadStream(path), value), value)
  } catch (cause) {
    if (cause instanceof UsageError) throw cause
    throw new UsageError(`-m ${value}: ${explainSystemError(cause) ?? (cause as Error).message}`, { cause })
  }
}

async function readBytes(stream: Readable, value: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > LONGEST_MEGABYTES * 1024 * 1024)
      throw new UsageError(`-m ${value}: it is longer than ${LONGEST_MEGABYTES} MB.\n${AS_A_FILE}`)
  }
  return Buffer.concat(chunks)
}

function toText(bytes: Buffer, value: string): string {
  if (!isUtf8(bytes))
    throw new UsageError(
      `-m ${value}: it is not UTF-8 text. Convert it first, for example with: iconv -f ISO-8859-1 -t UTF-8`,
    )
  if (bytes.includes(0))
    throw new UsageError(`-m ${value}: it contains a NUL byte, so it is not text.\n${AS_A_FILE}`)
  return bytes.toString('utf8').replace(/^\ufeff|\r?\n$/g, '')
}
