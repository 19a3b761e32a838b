import type { ChatMessage } from '@delta/model'
import { type Calibration, estimateTokens } from './tokens.js'

/** Counts the tokens of several texts at once. */
export type CountTokens = (texts: readonly string[]) => readonly number[] | Promise<readonly number[]>

/** A message with its cost: what budgets are made of. */
export interface Weighed {
  message: ChatMessage
  /** As it is sent. */
  json: string
  bytes: number
  tokens: number
}

export interface Meter {
  weigh(messages: readonly ChatMessage[]): Promise<Weighed[]>
}

/** Role, separators and names cost this much besides the text, with most providers. */
const FRAME_TOKENS = 4

/** Weighs messages by an exact counter if there is one, else by their size and what the provider last counted. */
export function createMeter({
  count,
  calibration,
}: {
  count?: CountTokens
  calibration?: Calibration
}): Meter {
  return {
    async weigh(messages) {
      const sized = messages.map(sizeOf)
      if (count === undefined) {
        return sized.map(({ message, json, bytes }) => ({
          message,
          json,
          bytes,
          tokens: estimateTokens(bytes, calibration),
        }))
      }
      const counts = await count(messages.map(textOf))
      return sized.map((message, index) => ({ ...message, tokens: (counts[index] ?? 0) + FRAME_TOKENS }))
    },
  }
}

const sizes = new WeakMap<ChatMessage, Omit<Weighed, 'tokens'>>()

/** Messages of complete turns are the same objects in every iteration, and need not be written out again. */
function sizeOf(message: ChatMessage): Omit<Weighed, 'tokens'> {
  const known = sizes.get(message)
  if (known !== undefined) return known
  const json = JSON.stringify(message)
  const sized = { message, json, bytes: Buffer.byteLength(json) }
  sizes.set(message, sized)
  return sized
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
