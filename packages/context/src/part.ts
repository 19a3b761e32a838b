import type { SizedMessage, Turn } from './conversation/turn.js'
import type { ContextSource } from './manifest/manifest.js'

/** What one source became, while it is still being fitted into the budget. */
export interface Part {
  source: ContextSource
  /** A block of text is one turn; a journal has many; a source that was left out has none. */
  turns: Turn[]
  /** What stands above a text, with the blank line below it; mostly `# Context Block: …`. */
  header: string
  /** Why it was left out, or what was cut. */
  note?: string
  warning?: string
}

export function* messagesOf(turns: readonly Turn[]): Generator<SizedMessage> {
  for (const { messages } of turns) yield* messages
}
