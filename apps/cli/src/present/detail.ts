import type { WrittenCommands } from './command-line.js'
import type { Style } from './style.js'

/** How events are described. */
export interface Detail {
  style: Style
  /** Whole outputs, hooks. */
  verbose: boolean
  /** What each thought took; default: as `verbose`. */
  tokens?: boolean
  /** Also what a person following a run is told otherwise: their messages, the answer, which goes to stdout, and why it failed. */
  transcript?: boolean
  /** What tools' authors wrote, which is shown as they wrote it. */
  written?: WrittenCommands
}
