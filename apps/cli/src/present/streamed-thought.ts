import type { Thought } from '@delta/journal'
import { columnsOf } from './columns.js'
import { thoughtTokens } from './describe-thought.js'
import { columnsFor } from './print.js'
import { printable } from './printable.js'
import type { Style } from './style.js'

/** Shows what the model says on a terminal, as it is streamed. */
export interface StreamedThought {
  /** Appends a piece to the thought. */
  add(piece: string, iteration: number): void
  /** The thought is complete. False if it must still be printed: it was not streamed, or a hook has changed it. */
  end(thought: Thought): boolean
  /** The attempt failed in the middle of the thought; the next attempt begins again. */
  forget(): void
  /** Ends the line of an unfinished thought before something else is printed. False if there was none. */
  endLine(): boolean
}

export function streamedThought(stream: NodeJS.WriteStream, style: Style): StreamedThought {
  let said = ''
  let isMidLine = false
  /** How many columns are taken of the line, and by the word at its end. */
  let used = 0
  let word = ''
  /** What is to be written of the piece at hand. */
  let written = ''

  function begin(iteration: number): void {
    const number = `${iteration}. `
    stream.write(style.dim(number))
    used = number.length
    word = ''
  }

  /** A word that outgrows its line is taken back, and goes to the next one, below the first word of the thought. */
  function write(part: string): void {
    const width = columnsOf(part)
    const isBlank = part.trim() === ''
    if (part === '\n') nextLine()
    else if (used + width <= room()) {
      written += part
      used += width
      word = isBlank || width > part.length ? '' : word + part // between wide characters a line may end
    } else if (isBlank) nextLine()
    else if (INDENT.length + columnsOf(word) + width <= room()) {
      if (word !== '') written += `\u001b[${columnsOf(word)}D\u001b[K`
      const whole = word + part
      nextLine()
      write(whole)
    } else {
      written += part // longer than a line: the terminal breaks it
      used = (used + width) % (room() + 1)
      word = ''
    }
  }

  /** The last column stays free: behind it the cursor is not where it seems to be. */
  function room(): number {
    return (columnsFor(stream) ?? Number.POSITIVE_INFINITY) - 1
  }

  function nextLine(): void {
    written += `\n${INDENT}`
    used = INDENT.length
    word = ''
  }

  function flush(): void {
    if (written !== '') stream.write(style.bold(written))
    written = ''
  }

  return {
    add(piece, iteration) {
      if (said === '') begin(iteration)
      said += piece
      isMidLine = true
      for (const part of printable(piece).match(/\s|[^\s\u0370-\u{10ffff}]+|./gu) ?? []) write(part)
      flush()
    },
    end(thought) {
      if (said === '') return false
      const isTold = said === thought.content
      said = ''
      isMidLine = false
      const tokens = isTold ? thoughtTokens(thought) : ''
      if (used + tokens.length > room()) nextLine()
      flush()
      stream.write(`${style.dim(tokens)}\n`)
      return isTold
    },
    forget() {
      said = ''
    },
    endLine() {
      if (!isMidLine) return false
      isMidLine = false
      stream.write('\n')
      return true
    },
  }
}

/** Of further lines: as wide as `1. `. */
const INDENT = '   '
