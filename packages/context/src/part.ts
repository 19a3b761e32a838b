import type { ContextSource } from './manifest.js'
import type { Weighed } from './meter.js'
import type { Turn } from './turns.js'

/** A turn with its cost. */
export interface WeighedTurn {
  kind: Turn['kind']
  iteration?: number
  messages: Weighed[]
}

/** What one source became, while it is still being fitted into the budget. */
export interface Part {
  source: ContextSource
  /** A block of text is one turn; a journal has many; a source that was left out has none. */
  turns: WeighedTurn[]
  /** Why it was left out, or what was cut. */
  note?: string
  warning?: string
}

export function tokensOf(turns: readonly WeighedTurn[]): number {
  let total = 0
  for (const { messages } of turns) for (const { tokens } of messages) total += tokens
  return total
}
