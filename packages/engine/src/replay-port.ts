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
  /** Why it failed, for people. */
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
  /** The limit of iterations in this leg that was typed: now, or for a recorded model then. */
  maxIterations(): number | undefined
  /** True if the record has this iteration in this leg. */
  has(iteration: number): boolean
  /** How this leg ended in the record. */
  ending(iteration: number): Outcome
  /** How this leg ended in the record, if a recorded model has no answer for the iteration. */
  endingBefore(iteration: number): Outcome | undefined
  /** Throws `EndOfRecord` where a recorded model was not asked, or its answer did not get into the journal. */
  reach(what: 'request' | 'thought', iteration: number): void
  /** What an outcome of this leg is in the record, where an engine did not end by itself. */
  asEnded(outcome: Outcome): Outcome
  /** What the user said at the beginning of this leg. */
  said(): readonly UserMessageEvent[]
  /** What was said to the running run before an iteration of this leg; once. */
  saidBefore(iteration: number): readonly UserMessageEvent[]
  /** Moves on to the next leg. False after the last one. */
  nextLeg(): boolean
  /** Undefined where tools are live: then the sources are read. */
  sources(iteration: number): RecordedSources | undefined
  hook(name: HookName, place: HookPlace): RecordedHook | 'live' | 'not run'
  /** True if the hook saw the result of a call in this leg. */
  wasReported(place: CallPlace): boolean
  /**
   * The recorded call that a result is to be taken from; without a result, the record ends while it ran. Undefined for one that is to
   * be started.
   */
  call(call: ToolCallRecord, prepared: RunnableCall, place: CallPlace): RecordedCall | undefined
  /**
   * How a call was settled that was open when the user spoke: the recorded call whose result stands, or `acted on`, if a person had
   * decided that it may run. Undefined if it was not settled in this leg.
   */
  settled(call: ToolCallRecord, place: CallPlace): RecordedCall | 'acted on' | undefined
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
