import type { Thought } from '@delta/journal'
import { thoughtTokens } from './describe-thought.js'
import { printable } from './printable.js'
import type { Style } from './style.js'

/** What the model says, on a terminal, while it says it. */
export interface StreamedThought {
  /** Writes a piece behind those that came before it. */
  add(piece: string, iteration: number): void
  /** The thought is whole. False if it is still to be told: nothing of it came before, or a hook has changed it. */
  end(thought: Thought): boolean
  /** What came breaks off in the middle: the next attempt says it anew. */
  forget(): void
  /** Whoever writes lines does not go on where a thought stands. False if none stood there. */
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
