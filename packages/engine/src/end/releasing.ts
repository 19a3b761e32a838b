import type { Run } from '@delta/journal/runs'
import { asRecordFailure, withWayOn } from './record-failure.js'

/**
 * Works on a run that this process owns, and releases it whatever happens. A write error is rethrown with advice on how to
 * continue.
 */
export async function releasing<T>(run: Run, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw withWayOn(asRecordFailure(error, run), run)
  } finally {
    run.close()
  }
}
