import type { ActiveRun } from './active-run.js'
import { EngineError } from './errors.js'

/**
 * A callback of the calling program threw. That is no failure of the run: it is left as a crash would leave it, and can be
 * continued.
 */
export class CallbackError extends Error {
  constructor(readonly thrown: unknown) {
    super('A callback of the calling program threw.')
  }
}

type Callbacks = Pick<ActiveRun, 'emit' | 'ask'>

/**
 * Wraps the callbacks of the calling program: what one throws becomes a `CallbackError`. After the first, no callback is
 * called again; each further event throws the same error until the run is given up.
 */
export function guardCallbacks({ emit, ask, signal }: Callbacks & Pick<ActiveRun, 'signal'>): Callbacks {
  let failure: CallbackError | undefined

  function fail(error: unknown): CallbackError {
    failure ??= new CallbackError(error)
    return failure
  }

  function safeEmit(event: Parameters<typeof emit>[0]): void {
    if (failure) throw failure
    try {
      emit(event)
    } catch (error) {
      throw fail(error)
    }
  }

  async function safeAsk(question: Parameters<NonNullable<typeof ask>>[0]): Promise<string | undefined> {
    try {
      return checkAnswer(await ask?.(question))
    } catch (error) {
      throw signal.aborted ? error : fail(error) // nobody waits for the answer of a run that is being stopped
    }
  }

  return { emit: safeEmit, ask: ask && safeAsk }
}

function checkAnswer(answer: unknown): string | undefined {
  if (answer === undefined || typeof answer === 'string') return answer
  const what = answer === null ? 'null' : `a ${typeof answer}`
  throw new EngineError(
    'ERR_ENGINE_USAGE',
    `The option ask resolved to ${what}: it must resolve to the answer as text, or to undefined when there is none.`,
  )
}
