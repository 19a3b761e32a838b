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
const ARROWS = /\u001b(?:\[[\d;]*[A-Za-z~]|O[A-Za-z])/g

/** A terminal delivers a line at a time; nothing may listen when the next one is typed hidden. */
function readTyped(stdin: Input): Promise<string | undefined> {
  return new Promise((resolve) => {
    const reader = open(stdin)
    reader.once('line', (line) => {
      resolve(line.replace(ARROWS, ''))
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

/** What a terminal in raw mode sends for keys that are not text. */
const KEYS: Readonly<Record<string, 'enter' | 'end' | 'interrupt' | 'erase'>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\u0003': 'interrupt',
  '\u0004': 'end',
  '\u007f': 'erase',
}

/**
 * Reads a line without echo. Echoing stops before the prompt is shown, so that a person who types at once, or a program that
 * waits for the prompt, is not echoed either. Anything pasted after the end of the line is dropped: it may be part of the
 * secret, and the next question may echo its answer. Undefined when `signal` is aborted, at end of input, or when the
 * terminal has gone.
 */
export function readHidden(
  prompt: string,
  { stdin, stderr, signals }: Terminal,
  signal: AbortSignal,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    let typed = ''
    const decoder = new TextDecoder() // holds half a character until the rest comes
    const finish = (answer: string | undefined): void => {
      stdin.setRawMode(false)
      stdin.off('data', read).off('end', nobody).off('close', nobody).pause()
      signal.removeEventListener('abort', nobody)
      resolve(answer)
    }
    const nobody = (): void => finish(undefined)
    const read = (chunk: Buffer): void => {
      for (const character of decoder.decode(chunk, { stream: true })) {
        const key = KEYS[character]
        if (key === undefined) typed += character
        else if (key === 'erase') typed = [...typed].slice(0, -1).join('')
        else if (key === 'interrupt') signals.emit('SIGINT', 'SIGINT')
        else {
          finish(key === 'enter' || typed !== '' ? typed : undefined)
          return
        }
      }
    }
    stdin.setRawMode(true)
    stderr.write(prompt)
    signal.addEventListener('abort', nobody, { once: true })
    stdin.ref?.()
    stdin.resume()
    stdin.on('data', read).once('end', nobody).once('close', nobody)
  })
}
