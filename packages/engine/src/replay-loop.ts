import { runLoop } from './loop.js'
import type { Outcome } from './outcome.js'
import { settleAsRecorded } from './repeat-call.js'
import { EndOfRecord, type Replay } from './replay-port.js'
import { type RunState, record } from './run-state.js'

/**
 * Drives a replay leg by leg: each begins with what the user said then. With a recorded model, a leg ends where the record of it
 * ends; a live one ends it by its answer.
 */
export async function replayLoop(state: RunState, replay: Replay): Promise<Outcome> {
  for (;;) {
    const outcome = await runLeg(state, replay)
    const said = isOver(outcome, replay) ? undefined : replay.nextLeg()
    if (said === undefined) return outcome
    for (const { content } of said) record(state, { type: 'USER_MESSAGE', replayed: true, content })
    settleAsRecorded(state, replay)
  }
}

/** A replay that has left its record goes no further, and neither does a live model that failed. */
function isOver({ status, reasonCode }: Outcome, { sides }: Replay): boolean {
  return reasonCode === 'replay_mismatch' || (sides.model === 'live' && status !== 'COMPLETED')
}

/** Goes on where an engine ended in the middle of a leg, and was continued without a message. */
async function runLeg(state: RunState, replay: Replay): Promise<Outcome> {
  for (;;) {
    const before = state.run.summary().lastIteration
    const outcome = await runLoop(fromHere(state, replay)).catch(endOfRecord)
    const after = state.run.summary().lastIteration
    const isRetried =
      replay.sides.model === 'recorded' && outcome.status === 'FAILED' && replay.has(after + 1)
    if (!isRetried || after === before || outcome.reasonCode === 'replay_mismatch') return outcome
  }
}

function fromHere(state: RunState, replay: Replay): RunState {
  const { lastIteration, iterationsSinceMessage } = state.run.summary()
  const maxIterations = replay.maxIterations() ?? state.maxIterations
  return {
    ...state,
    maxIterations,
    task: state.run.history.userMessages.join('\n'),
    firstIteration: lastIteration + 1,
    lastAllowedIteration: lastIteration + maxIterations - iterationsSinceMessage,
  }
}

function endOfRecord(error: unknown): Outcome {
  if (error instanceof EndOfRecord) return error.outcome
  throw error
}
