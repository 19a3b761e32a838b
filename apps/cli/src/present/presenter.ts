import type { EngineEvent, RunResult } from '@delta/engine'
import type { Terminal } from '../terminal.js'
import { jsonPresenter, rawPresenter, streamJsonPresenter } from './machine.js'
import { textPresenter } from './text.js'

/** Turns what the engine says into output: results on stdout, everything else on stderr. */
export interface Presenter {
  /** True when the model's words should come as they are made. */
  readonly wantsStream: boolean
  show(event: EngineEvent): void
  warn(message: string): void
  finish(result: RunResult): void
}

export type Format = 'text' | 'json' | 'stream-json' | 'raw'

export function presenterFor(
  format: Format,
  terminal: Terminal,
  flags: { quiet?: boolean; verbose?: boolean },
): Presenter {
  const progress = textPresenter(terminal, flags)
  switch (format) {
    case 'text':
      return progress
    case 'json':
      return jsonPresenter(progress, terminal)
    case 'raw':
      return rawPresenter(progress, terminal)
    case 'stream-json':
      return streamJsonPresenter(progress, terminal)
    default:
      return format satisfies never
  }
}
