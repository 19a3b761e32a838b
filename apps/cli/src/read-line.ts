import { createInterface, type Interface } from 'node:readline'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Terminal } from './terminal.js'

type Input = Terminal['stdin']

/** Lines that arrived together with an earlier one, by stream: a pipe delivers several at once. */
const buffered = new WeakMap<Input, AsyncIterator<string>>()

/**
 * Asks on stderr and reads the next line of stdin, a terminal or not, without its newline; undefined at end of input. What was
 * typed before the question does not answer it. A pipe holds prepared answers, one line for each question.
 */
export async function readLine(prompt: string, { stdin, stderr }: Terminal): Promise<string | undefined> {
  await forgetTyped(stdin)
  stderr.write(prompt)
  if (stdin.isTTY) return stdin.destroyed ? undefined : readTyped(stdin)
  if (!buffered.has(stdin) && (stdin.readableEnded || stdin.destroyed)) return undefined // `-m -` has read it all
  const lines = buffered.get(stdin) ?? open(stdin)[Symbol.asyncIterator]()
  buffered.set(stdin, lines)
  stdin.ref?.()
  const next = await lines.next()
  stdin.unref?.()
  return next.done ? undefined : next.value
}

/**
 * Drops what was typed at a terminal so far, with or without Enter. In raw mode the system hands all of it out, and a stream without
 * a listener forgets it; by the second turn of the event loop it has been read.
 */
async function forgetTyped(stdin: Input): Promise<void> {
  if (!stdin.isTTY) return
  stdin.setRawMode?.(true)
  stdin.resume()
  await nextTurn()
  await nextTurn()
  stdin.pause()
  stdin.setRawMode?.(false)
}

/** What a terminal sends for arrows and the like. They move nothing here, and are not part of an answer. */
const ARROWS = /\u001b(?:\[[\d;]*[A-Za-z~]|O[A-Za-z])/g

/** A terminal delivers a line at a time; nothing may listen when the next one is typed hidden. */
async function readTyped(stdin: Input): Promise<string | undefined> {
  return (await lineOf(open(stdin)))?.replace(ARROWS, '')
}

/** No `output`: on a terminal the system edits the line and turns Ctrl+C into a signal. */
function open(stdin: Input): Interface {
  return createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY })
}

/** Anything behind the first line is dropped. Undefined at end of input, or when the terminal has gone. */
function lineOf(reader: Interface): Promise<string | undefined> {
  return new Promise((resolve) => {
    reader.once('line', (line) => {
      resolve(line)
      reader.close()
    })
    reader.on('error', () => resolve(undefined)) // a terminal that breaks while it is read
    reader.once('close', () => resolve(undefined))
  })
}

/**
 * Reads a line without echo. Echoing stops before the prompt is shown, so that a person who types at once, or a program that
 * waits for the prompt, is not echoed either. Anything pasted after the end of the line is dropped: it may be part of the
 * secret, and the next question may echo its answer. Undefined when `signal` is aborted, at end of input, or when the
 * terminal has gone.
 */
export async function readHidden(
  prompt: string,
  { stdin, stderr, signals }: Terminal,
  signal: AbortSignal,
): Promise<string | undefined> {
  await forgetTyped(stdin)
  stdin.ref?.()
  const reader = createInterface({ input: stdin, terminal: true, historySize: 0, signal }) // without an `output` to echo to
  reader.on('SIGINT', () => signals.emit('SIGINT', 'SIGINT'))
  const line = lineOf(reader)
  stderr.write(prompt)
  return line
}
