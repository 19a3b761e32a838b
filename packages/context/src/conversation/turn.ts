import type { SizedMessage } from './sized-message.js'

/** A piece of a conversation that is kept or dropped as a whole. */
export interface Turn {
  /** `cycle`: what the model said, with all results; the others are single messages from outside. */
  kind: 'cycle' | 'user' | 'system'
  /** The number of the cycle that it is or belongs to, from 1. */
  iteration?: number
  messages: readonly SizedMessage[]
}
