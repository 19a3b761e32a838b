import type { EngineEvent } from '@delta/engine'
import { commandToContinue } from '../usage/command-to-continue.js'
import type { Presenter } from './presenter.js'
import { storedEvent } from './stored-event.js'

export interface RunPresenter extends Presenter {
  /** The run is left at once, without an end: says how it goes on, once it is known which run it is. */
  leave(): void
}

/** Remembers which run is shown, so that whoever leaves it in a hurry is told how to come back. */
export function withLastWord(presenter: Presenter, env: NodeJS.ProcessEnv): RunPresenter {
  let way: string | undefined

  function notice(event: EngineEvent): void {
    const stored = storedEvent(event)
    if (stored?.type === 'ENGINE_START' && stored.work_dir !== undefined)
      way = commandToContinue(stored.work_dir, stored.run_id, env)
  }

  return {
    ...presenter,
    show(event) {
      notice(event)
      presenter.show(event)
    },
    leave() {
      if (way !== undefined) presenter.warn(`Stopped at once. Go on with: ${way}`)
    },
  }
}
