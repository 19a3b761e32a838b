import type { ActiveRun } from '../active-run.js'
import type { Question } from '../outcome.js'

/** The answer of the person at the terminal; undefined when nobody is there, input has ended, or the run is being stopped. */
export async function askPerson(run: ActiveRun, question: Question): Promise<string | undefined> {
  if (!run.ask || run.signal.aborted) return undefined
  run.run.journal.sync()
  const stopped = aborted(run.signal) // before `ask`, which may stop the run itself
  return Promise.race([run.ask(question), stopped])
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }))
}
