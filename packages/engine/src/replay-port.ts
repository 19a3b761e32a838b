import type { HookName } from '@delta/config-loader'
import type { RecordedSources } from '@delta/context'
import type { RunnableCall } from '@delta/executor'
import type { ToolCallRecord, UserMessageEvent } from '@delta/journal/runs'
import type { ChatModel } from '@delta/model'
import type { Outcome } from './outcome.js'
import type { RecordedCall } from './recorded-run.js'

/** What is taken from the record of another run, and what is asked and started. */
export interface Sides {
  model: 'recorded' | 'live'
  tools: 'recorded' | 'live'
}

/** The directories that a run's commands and its model are told of. */
export interface Variables {
  AGENT_HOME: string
  CWD: string
  RUN_DIR: string
}

/** What a hook did in the recorded run. */
export interface RecordedHook {
  /** Its `input/` and `output/`. */
  directory: string
  /** Why it failed, without its name. */
  failure: string | undefined
}

/**
 * What a replay takes from the record of a run, place by place. It moves through the record's legs as the replay does.
 *
 * What the record does not hold throws `NotRecorded`; where the record ends, `EndOfRecord`. So nothing is asked, started or guessed.
 */
export interface Replay {
  readonly sides: Sides
  /** The recorded run's directory. */
  readonly directory: string
  /** What commands would be told; undefined where they are started. */
  readonly variables: Variables | undefined
  /** Answers what was recorded; undefined for a live model. */
  readonly chatModel: ChatModel | undefined
  /** The limit of iterations in this leg that was typed for the replay, or for the recorded run. */
  maxIterations(): number | undefined
  /** True if the record has this iteration in this leg. */
  has(iteration: number): boolean
  /** How this leg ended in the record, if a recorded model has no answer for the iteration. */
  endingBefore(iteration: number): Outcome | undefined
  /** Moves on to the next leg: what the user said then. Undefined after the last one. */
  nextLeg(): readonly UserMessageEvent[] | undefined
  /** Undefined where tools are live: then the sources are read. */
  sources(iteration: number): RecordedSources | undefined
  hook(name: HookName, place: HookPlace): RecordedHook | 'live' | 'not run'
  /** The recorded call that a result is to be taken from; undefined for one that is to be started. */
  call(call: ToolCallRecord, prepared: RunnableCall, place: CallPlace): RecordedCall | undefined
  /** The recorded call that stands in the place of one that no engine had begun. */
  unstarted(call: ToolCallRecord, place: CallPlace): RecordedCall | undefined
  /** The recorded decision on a call, if a person was asked. `allowed`: nobody was, and it may start. */
  approval(call: ToolCallRecord, prepared: RunnableCall, place: CallPlace): RecordedCall['asked'] | 'allowed'
  /** The recorded call with the same question. */
  question(call: ToolCallRecord, place: CallPlace): RecordedCall
}

/** Which call of which answer. */
export interface CallPlace {
  iteration: number
  /** From 0. */
  index: number
}

export interface HookPlace {
  iteration: number
  /** For a hook of a call: its place in the answer, from 0. */
  index: number | undefined
  /** What the hook reads. */
  payload?: { file: string; data: () => string } | undefined
}

/** What the record does not hold. */
export class NotRecorded extends Error {
  readonly code = 'ERR_ENGINE_NOT_RECORDED'
}

/** The recorded run went no further. */
export class EndOfRecord extends Error {
  constructor(readonly outcome: Outcome) {
    super('The record ends here.')
  }
}
