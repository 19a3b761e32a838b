import type { EngineEvent, RunResult } from '@delta/engine'

/** Turns what the engine says into output: results on stdout, everything else on stderr. */
export interface Presenter {
  /** True when the model's words should come as they are made. */
  readonly wantsStream: boolean
  show(event: EngineEvent): void
  warn(message: string): void
  finish(result: RunResult): void
  /** Stops what moves on the screen, so that somebody else can write there. */
  pause(): void
}

export type Format = 'text' | 'json' | 'stream-json' | 'raw'

export interface PresenterFlags {
  format: Format
  quiet?: boolean
  verbose?: boolean
}
