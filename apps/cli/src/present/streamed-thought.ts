import type { Thought } from '@delta/journal'
import { thoughtTokens } from './describe-thought.js'
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
  return {
    add(piece, iteration) {
      if (said === '') stream.write(style.dim(`${iteration}. `))
      said += piece
      isMidLine = true
      stream.write(style.bold(printable(piece)))
    },
    end(thought) {
      if (said === '') return false
      const isTold = said === thought.content
      said = ''
      isMidLine = false
      stream.write(`${isTold ? style.dim(thoughtTokens(thought)) : ''}\n`)
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
