import { act } from './act.js'
import type { ActiveRun } from './active-run.js'
import { conclude } from './conclude.js'
import { MAX_ITERATIONS } from './failure.js'
import { notifyHook } from './hooks/notify.js'
import { interrupted, type Outcome } from './outcome.js'
import { settle } from './settle.js'
import { think } from './think.js'

/**
 * Runs one agent until it answers, is stopped, waits for a person, or is out of iterations.
 *
 * Keeps no state of its own: each cycle rebuilds the conversation from the journal, so a
 * killed run resumes by calling this again on the same directory. A tool that fails is an
 * observation for the model, not an error here.
 */
export async function runLoop(run: ActiveRun): Promise<Outcome> {
  const settled = await settle(run)
  if (settled) return settled

  for (let iteration = run.firstIteration; iteration <= run.lastAllowedIteration; iteration++) {
    if (run.signal.aborted) return interrupted(run.signal)
    const heldBack = await notifyHook(run, 'on_iteration_start', { iteration })
    if (heldBack) return heldBack

    const thought = await think(run, iteration)
    if ('stopped' in thought) return thought.stopped

    const calls = thought.value.tool_calls
    const stopped = await act(run, calls, iteration)
    if (stopped) return stopped

    const halted = await notifyHook(run, 'on_iteration_end', { iteration })
    if (calls.length === 0) return conclude(thought.value, run.agent)
    if (halted) return halted
  }
  return outOfIterations(run)
}

/** Without a journal source the model would not see a further message either, so the run first needs one. */
function outOfIterations({ agent, run, maxIterations }: ActiveRun): Outcome {
  const seesJournal = agent.manifest.sources.some(({ type }) => type === 'journal')
  return {
    status: 'FAILED',
    reasonCode: 'limit_iterations',
    reason: MAX_ITERATIONS,
    iteration: run.summary().lastIteration,
    maxIterations,
    ...(seesJournal ? {} : { needsMending: true }),
  }
}
