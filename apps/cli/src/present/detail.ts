import type { WrittenCommands } from './command-line.js'
import type { Style } from './style.js'

/** How events are described. */
export interface Detail {
  style: Style
  /** Whole outputs, hooks. */
  verbose: boolean
  /** What each thought took; default: as `verbose`. */
  tokens?: boolean
  /** Includes what a person running the agent sees elsewhere: their own messages, the answer (on stdout), why it failed. */
  transcript?: boolean
  /** Commands as the tools' authors wrote them. */
  written?: WrittenCommands
}
