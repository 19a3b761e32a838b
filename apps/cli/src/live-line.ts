import type { Thought } from '@delta/journal/runs'
import { type Style, tokensOf } from './render.js'
import { duration, inColumns, printable } from './text.js'

const ERASE_LINE = '\r\u001b[K'

/** The last line of a terminal, which moves while the run does: what is waited for, or the words of the model as they stream. */
export function liveLine(stream: NodeJS.WriteStream, style: Style) {
  let timer: NodeJS.Timeout | undefined
  let isWaiting = false
  let said = ''
  let hasReasoned = false

  /** Makes room for a line of something else. */
  function leave(): void {
    if (isWaiting) stream.write(ERASE_LINE)
    if (said !== '' || hasReasoned) stream.write('\n')
    isWaiting = false
    hasReasoned = false
    said = ''
  }

  function beginThought(iteration: number): void {
    clearInterval(timer)
    leave()
    stream.write(`${style('dim', `${iteration}.`)} `)
  }

  return {
    leave,
    /** Shows what is waited for and for how long, from the next second on; undefined: nothing. */
    wait(label: string | undefined): void {
      clearInterval(timer)
      if (label === undefined) return
      const began = performance.now()
      timer = setInterval(() => {
        isWaiting = true
        const time = ` … ${duration(1000 * Math.floor((performance.now() - began) / 1000))}`
        // the last column stays free: a line that fills it moves on to the next
        const room = Math.max(1, (stream.columns || 80) - time.length - 1)
        stream.write(`${ERASE_LINE}${style('dim', inColumns(printable(label), room) + time)}`)
      }, 1000)
      timer.unref()
    },
    /** Appends to what the model reasons before the words of this iteration. */
    reason(words: string, iteration: number): void {
      if (!hasReasoned) beginThought(iteration)
      stream.write(style('dim', `${hasReasoned ? '' : '∴ '}${printable(words).replaceAll('\n', '\n     ')}`))
      hasReasoned = true
    },
    /** Appends words to the thought of this iteration. */
    say(words: string, iteration: number): void {
      if (said === '' && hasReasoned) stream.write('\n   ')
      else if (said === '') beginThought(iteration)
      said += words
      stream.write(style('bold', printable(words).replaceAll('\n', '\n   ')))
    },
    /**
     * Ends the thought. False if it must still be printed: it was not streamed to its end, or a hook has changed it.
     *
     * @param since - When its request was made, to say how long it took.
     */
    end(thought: Thought & { timestamp: string }, since: string | undefined): boolean {
      const isSaid = (said !== '' || hasReasoned) && said === thought.content
      if (isSaid) stream.write(style('dim', tokensOf(thought, since)))
      leave()
      return isSaid
    },
  }
}
