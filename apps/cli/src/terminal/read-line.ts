import { createInterface } from 'node:readline'
import type { Terminal } from './terminal.js'

type Input = Terminal['stdin']

/** Lines that arrived together with an earlier one, by stream: a pipe delivers several at once. */
const buffered = new WeakMap<Input, AsyncIterator<string>>()

/** The next line of stdin, a terminal or not, without its newline; undefined at end of input. */
export async function readLine({ stdin }: Terminal): Promise<string | undefined> {
  if (stdin.isTTY) return readTyped(stdin)
  if (!buffered.has(stdin) && (stdin.readableEnded || stdin.destroyed)) return undefined // `-m -` has read it all
  const lines = buffered.get(stdin) ?? open(stdin)[Symbol.asyncIterator]()
  buffered.set(stdin, lines)
  stdin.ref?.()
  const next = await lines.next()
  stdin.unref?.()
  return next.done ? undefined : next.value
}

/** What a terminal sends for arrows and the like. They move nothing here, and are no part of an answer. */
const KEYS = /\u001b(?:\[[\d;]*[A-Za-z~]|O[A-Za-z])/g

/** A terminal delivers a line at a time; nothing may listen when the next one is typed hidden. */
function readTyped(stdin: Input): Promise<string | undefined> {
  return new Promise((resolve) => {
    const reader = open(stdin)
    reader.once('line', (line) => {
      resolve(line.replace(KEYS, ''))
      reader.close()
    })
    reader.once('error', () => reader.close()) // a terminal that breaks while it is read
    reader.once('close', () => resolve(undefined))
  })
}

/** No `output`: on a terminal the system edits the line and turns Ctrl+C into a signal. */
function open(stdin: Input): ReturnType<typeof createInterface> {
  return createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY })
}
