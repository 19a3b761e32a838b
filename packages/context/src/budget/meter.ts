import type { ChatMessage } from '@delta/model'
import type { SizedMessage, Turn } from '../conversation/turn.js'
import { failure, PROGRAM } from './counter.js'
import { bytesPerToken, type Calibration } from './tokens.js'

/** Counts the tokens of several texts at once. */
export type CountTokens = (texts: readonly string[]) => readonly number[] | Promise<readonly number[]>

/** What messages cost: by an exact counter if there is one, else by their size and what the provider last counted. */
export interface Meter {
  /** Counts several messages in one go: a counter may be a program. Comes before `tokensOf` these. */
  count(messages: Iterable<SizedMessage>): Promise<void>
  tokens(message: SizedMessage): number
  tokensOf(turns: readonly Turn[]): number
}

/** Role, separators and names cost this much besides the text, with most providers. */
const FRAME_TOKENS = 4

export function createMeter({
  count,
  isProgram = false,
  calibration,
}: {
  count?: CountTokens
  isProgram?: boolean
  calibration?: Calibration
}): Meter {
  const counted = new Map<SizedMessage, number>()
  const ratio = bytesPerToken(calibration)
  const tokens: Meter['tokens'] =
    count === undefined
      ? ({ bytes }) => Math.ceil(bytes / ratio)
      : (message) => (counted.get(message) ?? 0) + FRAME_TOKENS

  const add = (sum: number, message: SizedMessage) => sum + tokens(message)

  return {
    async count(messages) {
      if (count === undefined) return
      const all = [...messages]
      const counts = await count(all.map(({ message }) => textOf(message)))
      const usable = counts.every((tokens) => Number.isSafeInteger(tokens) && tokens >= 0)
      if (counts.length !== all.length || !usable)
        throw failure(
          `${isProgram ? PROGRAM : 'countTokens'} gave no whole number for each of ${all.length} texts`,
        )
      for (const [index, message] of all.entries()) counted.set(message, counts[index] ?? 0)
    },
    tokens,
    tokensOf(turns) {
      return turns.reduce((total, { messages }) => messages.reduce(add, total), 0)
    },
  }
}

/** What a tokenizer sees of a message: every text in it, without JSON's quotes and escapes. */
function textOf(message: ChatMessage): string {
  const texts: string[] = []
  const visit = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value)
    else if (typeof value === 'object' && value !== null)
      for (const inner of Object.values(value)) visit(inner)
  }
  const { role: _, ...rest } = message
  visit(rest)
  return texts.join('\n')
}
