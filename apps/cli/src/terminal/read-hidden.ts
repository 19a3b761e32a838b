import type { Terminal } from './terminal.js'

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
