/** Failures that last until somebody changes something; a generator that failed may succeed the next time. */
const PERSISTENT: ReadonlySet<string> = new Set([
  'ERR_MODEL_ACCESS',
  'ERR_MODEL_QUOTA',
  'ERR_MODEL_NOT_FOUND',
  'ERR_MODEL_REQUEST',
  'ERR_MODEL_SETTINGS',
  'ERR_MODEL_SCRIPT_END',
  'ERR_CONTEXT_SOURCE',
  'ERR_CONTEXT_BUDGET',
  'ERR_CONTEXT_COUNTER',
])

/**
 * Whether what failed with this code fails again until something outside the run is put right.
 *
 * @param code - Of an error, or of the last `ERROR` of a journal (`errorCode` of a run's summary).
 */
export function needsMending(code: unknown): boolean {
  return typeof code === 'string' && PERSISTENT.has(code)
}
