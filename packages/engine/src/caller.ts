import type { ActiveRun } from './active-run.js'
import { EngineError } from './errors.js'

/**
 * What a function that the calling program gave has thrown: its own affair. The run has not failed by it, and is left
 * as a crash would leave it, to be continued.
 */
export class CallerMistake extends Error {
  constructor(readonly thrown: unknown) {
    super('A function of the calling program threw.')
  }
}

/**
 * The functions that the calling program gave. After the first mistake none is called again: every event then repeats it,
 * until the run is given up.
 */
export function callersOwn({
  emit,
  ask,
  signal,
}: Pick<ActiveRun, 'emit' | 'ask' | 'signal'>): Pick<ActiveRun, 'emit' | 'ask'> {
  let mistake: CallerMistake | undefined

  function makes(error: unknown): CallerMistake {
    mistake ??= new CallerMistake(error)
    return mistake
  }

  function safeEmit(event: Parameters<typeof emit>[0]): void {
    if (mistake) throw mistake
    try {
      emit(event)
    } catch (error) {
      throw makes(error)
    }
  }

  async function safeAsk(question: Parameters<NonNullable<typeof ask>>[0]): Promise<string | undefined> {
    try {
      return answerIn(await ask?.(question))
    } catch (error) {
      throw signal.aborted ? error : makes(error) // nobody waits for the answer of a run that is stopped
    }
  }

  return { emit: safeEmit, ask: ask && safeAsk }
}

function answerIn(answer: unknown): string | undefined {
  if (answer === undefined || typeof answer === 'string') return answer
  const what = answer === null ? 'null' : `a ${typeof answer}`
  throw new EngineError(
    'ERR_ENGINE_USAGE',
    `The option ask resolved to ${what}: it must resolve to the answer as text, or to undefined when there is none.`,
  )
}
