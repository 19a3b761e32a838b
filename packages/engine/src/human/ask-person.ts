import type { ActiveRun } from '../active-run.js'
import type { Question } from '../outcome.js'

/** The answer from the terminal; undefined when nobody is there, input has ended, or the run is being stopped. */
export async function askPerson(run: ActiveRun, question: Question): Promise<string | undefined> {
  if (!run.ask || run.signal.aborted) return undefined
  run.run.journal.sync()
  const { signal } = run
  let stop = (): void => undefined
  const stopped = new Promise<undefined>((resolve) => {
    stop = () => resolve(undefined)
  })
  signal.addEventListener('abort', stop, { once: true }) // before `ask`, which may stop the run itself
  try {
    return await Promise.race([run.ask(question), stopped])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
