import type { Run } from '@delta/journal'
import { CallerMistake } from '../caller.js'
import { asRecordFailure, withWayOn } from './record-failure.js'

/**
 * Does something with a run that this process owns, and gives the run back whatever happens. An error of writing it says
 * how to go on.
 */
export async function releasing<T>(run: Run, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof CallerMistake) throw error.thrown
    throw withWayOn(asRecordFailure(error, run), run)
  } finally {
    run.close()
  }
}
