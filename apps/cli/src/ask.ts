import { createInterface } from 'node:readline'
import type { Question } from '@delta/engine'
import { printable } from './present/printable.js'
import type { Terminal } from './terminal.js'

/**
 * Asks on stderr and reads one line from stdin, a terminal or not; a sensitive answer is not echoed.
 * Undefined at end of input: nobody answered.
 */
export async function askAtTerminal(question: Question, terminal: Terminal): Promise<string | undefined> {
  terminal.stderr.write(`${printable(question.prompt)}${hint(question)} `)
  const hidden = question.sensitive && terminal.stdin.isTTY === true
  const line = hidden ? await readHidden(terminal) : await readLine(terminal)
  if (hidden || line === undefined) terminal.stderr.write('\n')
  return line
}

function hint(question: Question): string {
  return question.inputType === 'confirmation' ? ' [yes/no]' : ''
}

/** Lines that arrived together with an earlier answer, by stream: a pipe delivers several at once. */
const buffered = new WeakMap<NodeJS.ReadStream, AsyncIterator<string>>()

async function readLine(terminal: Terminal): Promise<string | undefined> {
  let lines = buffered.get(terminal.stdin)
  if (!lines) {
    const reader = createInterface({ input: terminal.stdin, crlfDelay: Number.POSITIVE_INFINITY })
    lines = reader[Symbol.asyncIterator]()
    buffered.set(terminal.stdin, lines)
  }
  terminal.stdin.ref?.()
  const next = await lines.next()
  terminal.stdin.unref?.()
  return next.done ? undefined : next.value
}

/** What a terminal sends for the keys that are not text, when nobody else handles them. */
const KEYS: Readonly<Record<string, 'enter' | 'end' | 'interrupt' | 'erase'>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\u0003': 'interrupt',
  '\u0004': 'end',
  '\u007f': 'erase',
}

function readHidden(terminal: Terminal): Promise<string | undefined> {
  const { stdin } = terminal
  return new Promise((resolve) => {
    let typed = ''
    const finish = (answer: string | undefined): void => {
      stdin.setRawMode(false)
      stdin.off('data', read)
      stdin.pause()
      resolve(answer)
    }
    const read = (chunk: Buffer): void => {
      for (const character of chunk.toString('utf8')) {
        const key = KEYS[character]
        if (key === 'interrupt') terminal.signals.emit('SIGINT', 'SIGINT')
        if (key === 'erase') typed = typed.slice(0, -1)
        else if (key === undefined) typed += character
        else {
          finish(key === 'enter' || (key === 'end' && typed !== '') ? typed : undefined)
          return
        }
      }
    }
    stdin.setRawMode(true)
    stdin.resume()
    stdin.on('data', read)
  })
}
