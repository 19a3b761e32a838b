import type { Run } from '@delta/journal'

/** Does something with a run that this process owns, and gives the run back whatever happens. */
export async function releasing<T>(run: Run, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } finally {
    run.close()
  }
}
