import type { ContextSource } from './manifest.js'
import type { SizedMessage, SizedTurn } from './meter.js'

/** What one source became, while it is still being fitted into the budget. */
export interface Part {
  source: ContextSource
  /** A block of text is one turn; a journal has many; a source that was left out has none. */
  turns: SizedTurn[]
  /** Why it was left out, or what was cut. */
  note?: string
  warning?: string
}

export function* messagesOf(turns: readonly SizedTurn[]): Generator<SizedMessage> {
  for (const { messages } of turns) yield* messages
}

export function bytesOf(turns: readonly SizedTurn[]): number {
  let total = 0
  for (const { messages } of turns) for (const { bytes } of messages) total += bytes
  return total
}
