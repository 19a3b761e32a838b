import { createInterface } from 'node:readline'
import type { Terminal } from './terminal.js'

/** Lines that arrived together with an earlier one, by stream: a pipe delivers several at once. */
const buffered = new WeakMap<NodeJS.ReadStream, AsyncIterator<string>>()

/** The next line of stdin, a terminal or not, without its newline; undefined at end of input. */
export async function readLine({ stdin }: Terminal): Promise<string | undefined> {
  let lines = buffered.get(stdin)
  if (!lines) {
    // no `output`: on a terminal the system edits the line and turns Ctrl+C into a signal
    const reader = createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY })
    lines = reader[Symbol.asyncIterator]()
    buffered.set(stdin, lines)
  }
  stdin.ref?.()
  const next = await lines.next()
  stdin.unref?.()
  return next.done ? undefined : next.value
}
