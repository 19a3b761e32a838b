import type { ShownTools } from './command-line.js'
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
  /** How the tools' authors want their calls shown. */
  tools?: ShownTools
  /** Columns of the terminal that shows the lines, now; undefined for a file or a pipe, whose lines are never broken. */
  columns?: () => number | undefined
}
