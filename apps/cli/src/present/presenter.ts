import type { EngineEvent, Question, RunResult } from '@delta/engine'

/** Turns what the engine says into output: results on stdout, everything else on stderr. */
export interface Presenter {
  /** True to receive the model's words as they are streamed. */
  readonly wantsStream: boolean
  show(event: EngineEvent): void
  warn(message: string): void
  /** @param answerIsShown - The answer, if any, is on the screen already. */
  finish(result: RunResult, answerIsShown?: boolean): void
  /** Stops all animation, because this question is about to be printed by somebody else. */
  leaveRoomFor(question: Question): void
}

export type Format = 'text' | 'json' | 'stream-json' | 'raw'

export interface PresenterFlags {
  format: Format
  quiet?: boolean
  verbose?: boolean
  /** A person is asked at the terminal. */
  interactive?: boolean
}
