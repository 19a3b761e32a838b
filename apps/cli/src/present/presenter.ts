import type { EngineEvent, Question, RunResult } from '@delta/engine'

/** Turns what the engine says into output: results on stdout, everything else on stderr. */
export interface Presenter {
  /** True when the model's words should come as they are made. */
  readonly wantsStream: boolean
  show(event: EngineEvent): void
  warn(message: string): void
  /** @param answerIsShown - The answer, if there is one, has been written already. */
  finish(result: RunResult, answerIsShown?: boolean): void
  /** Stops what moves on the screen: somebody else writes this question there. */
  leaveRoomFor(question: Question): void
}

export type Format = 'text' | 'json' | 'stream-json' | 'raw'

export interface PresenterFlags {
  format: Format
  quiet?: boolean
  verbose?: boolean
}
