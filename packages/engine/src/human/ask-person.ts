import type { Question } from '../outcome.js'
import type { RunState } from '../run-state.js'

/** The answer from the terminal; undefined when nobody is there, input has ended, or the run is being stopped. */
export async function askPerson(state: RunState, question: Question): Promise<string | undefined> {
  if (!state.ask || state.signal.aborted) return undefined
  state.run.journal.sync()
  const { signal } = state
  let stop = (): void => undefined
  const stopped = new Promise<undefined>((resolve) => {
    stop = () => resolve(undefined)
  })
  signal.addEventListener('abort', stop, { once: true }) // before `ask`, which may stop the run itself
  try {
    return await Promise.race([state.ask(question), stopped])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
