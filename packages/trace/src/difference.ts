import type { Comparable } from './comparable.js'
import type { RecordedParts } from './recorded-parts.js'
import type { Step } from './steps.js'

/** Why two runs are not the same: somebody stepped in, a setting, what the context held, the model, or the world. */
export type Cause = 'intervention' | 'configuration' | 'context' | 'model' | 'environment' | 'unknown'

/** A difference between two runs. */
export interface Difference {
  cause: Cause
  /** The iteration. */
  step: number
  at: 'said' | 'request' | 'answer' | 'call' | 'result' | 'end'
  /** A message, a setting, a source, a call, or the event that ended a run. */
  where: string
  /** The call of the answer that it is about, from 1. */
  call?: number
  /** The first byte that differs, of a source's own text. */
  byte?: number
  /** What stands around the place, at most eighty characters. Null: there is nothing. */
  left: string | null
  right: string | null
  /** What else is known about it. */
  evidence?: string
}

/** One side of a comparison. */
export interface Side {
  step: Step
  parts: RecordedParts
}

/** How the steps of two runs are compared, one pair after another. */
export interface Comparison {
  equal: Comparable
  /** True if the agents themselves differ in a setting, named as in `agent.yaml`. */
  isSetting(path: string): boolean
  /** What was found to be the same: most of a request stands in the requests before it, too. */
  known: {
    /** Of settings and texts of both runs. */
    pairs: Set<string>
    /** Of messages: the lines of both. */
    lines: Map<number, number>
  }
}
