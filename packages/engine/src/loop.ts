import { act } from './act.js'
import { notifyHook } from './hooks.js'
import { isSpokenTo, listen } from './inbox.js'
import { conclude, interrupted, type Outcome } from './outcome.js'
import type { RunState } from './run-state.js'
import { settle } from './settle.js'
import { think } from './think.js'

/**
 * Runs one agent until it answers, is stopped, waits for a person, or reaches a limit.
 *
 * Keeps no state of its own: each iteration rebuilds the conversation from the journal, so a
 * killed run resumes by calling this again on the same directory. A tool that fails is an
 * observation for the model, not an error here.
 */
export async function runLoop(state: RunState): Promise<Outcome> {
  const settled = await settle(state)
  if (settled && !(await isSpokenTo(state, settled, state.firstIteration))) return settled

  for (let iteration = state.firstIteration; iteration <= state.lastAllowedIteration; iteration++) {
    if (state.signal.aborted) return interrupted(state.signal)
    const ended = state.replay?.endingBefore(iteration)
    if (ended) return ended
    await listen(state, iteration)
    const overspent = await state.overspent()
    if (overspent) return overspent
    const heldBack = await notifyHook(state, 'on_iteration_start', { iteration })
    if (heldBack) return heldBack

    const thought = await think(state, iteration)
    if ('stopped' in thought) return thought.stopped

    const calls = thought.value.tool_calls
    const stopped = await act(state, calls, iteration)
    if (stopped) return stopped

    const halted = await notifyHook(state, 'on_iteration_end', { iteration })
    const outcome = calls.length === 0 ? conclude(thought.value, state.agent) : halted
    if (outcome && (halted || !(await isSpokenTo(state, outcome, iteration + 1)))) return outcome
  }
  return {
    status: 'FAILED',
    reasonCode: 'limit_iterations',
    reason: 'MAX_ITERATIONS',
    iteration: state.run.summary().lastIteration,
    maxIterations: state.maxIterations,
  }
}
