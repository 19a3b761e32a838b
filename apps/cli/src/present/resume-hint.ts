import type { EngineEvent } from '@delta/engine'
import type { Place } from '../place.js'
import { commandToContinue } from '../place.js'
import type { LoggingPresenter } from './engine-log.js'
import type { Presenter } from './presenter.js'
import { storedEvent } from './stored-event.js'

export interface RunPresenter extends Presenter {
  /** To be called before the run begins: its log and the advice need the place. */
  workAt(place: Place): void
  /** For a run that is left without an end: says how to continue it, if it is known which run it is. */
  leave(): void
}

/** Remembers which run is shown, so that a person who leaves it in a hurry is told how to continue it. */
export function withResumeHint(presenter: LoggingPresenter, _env: NodeJS.ProcessEnv): RunPresenter {
  let goOn: string | undefined
  let place: Place | undefined

  function notice(event: EngineEvent): void {
    const stored = storedEvent(event)
    if (stored?.type === 'ENGINE_START' && place !== undefined) goOn = commandToContinue(place, stored.run_id)
  }

  return {
    ...presenter,
    workAt(given) {
      place = given
      presenter.keepLogIn(given.runsDirectory)
    },
    show(event) {
      notice(event)
      presenter.show(event)
    },
    leave() {
      if (goOn !== undefined) presenter.warn(`Stopped at once. Go on with: ${goOn}`)
    },
  }
}
