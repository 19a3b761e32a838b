import { type ActionResult, isKnownEvent, type JournalEvent } from '@delta/journal/runs'
import { actOn } from './act.js'
import { reportResult } from './hooks.js'
import { runLoop } from './loop.js'
import type { Outcome } from './outcome.js'
import { settleCall } from './repeat-call.js'
import { EndOfRecord, type Replay } from './replay-port.js'
import { type Call, placeOf, type RunState, record } from './run-state.js'

/**
 * Drives a replay leg by leg: each begins with what the user said then. With a recorded model, a leg ends where the record of it
 * ends; a live one ends it by its answer.
 */
export async function replayLoop(state: RunState, replay: Replay): Promise<Outcome> {
  for (;;) {
    for (const { content } of replay.said()) record(state, { type: 'USER_MESSAGE', replayed: true, content })
    const outcome = (await settleAsRecorded(state, replay)) ?? (await runLeg(state, replay))
    const ended = replay.asEnded(outcome)
    if (isOver(ended, replay) || !replay.nextLeg()) return ended
  }
}

/** A replay that has left its record goes no further, and neither does a live model that failed. */
function isOver({ status, reasonCode }: Outcome, { sides }: Replay): boolean {
  return reasonCode === 'replay_mismatch' || (sides.model === 'live' && status !== 'COMPLETED')
}

/** What an engine did with the calls that were open when the user spoke, before it asked the model. */
async function settleAsRecorded(state: RunState, replay: Replay): Promise<Outcome | undefined> {
  const { pendingCalls, lastThought } = state.run.summary()
  const isPending = ({ action_id: id }: Call) => pendingCalls.some(({ action_id }) => action_id === id)
  for (const call of lastThought?.tool_calls ?? [])
    if (!isPending(call) && replay.wasReported(placeOf(state, call))) await reportAgain(state, call)
  for (const call of pendingCalls) {
    const recorded = replay.settled(call, placeOf(state, call))
    if (recorded === 'acted on') {
      const stopped = await actOn(state, call, { iteration: call.iteration, attempt: 1 }).catch(endOfRecord)
      if (stopped) return stopped
    } else if (recorded) settleCall(state, call, recorded)
  }
  return undefined
}

/** For an engine that ended between a result and its hook. */
async function reportAgain(state: RunState, call: Call): Promise<void> {
  const results = (await state.run.events()).filter(isKnownEvent)
  const result = results.findLast(
    (event) => event.type === 'ACTION_RESULT' && event.action_id === call.action_id,
  )
  const { observation_content: observation = '' } = Object(result) as Partial<ActionResult>
  await reportResult(state, call, { observation }, placeOf(state, call).iteration)
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
    await startRetry(state)
  }
}

/** As the engine that retried: an answer that is none is not sent again. */
async function startRetry(state: RunState): Promise<void> {
  const events = (await state.run.events()).filter(isKnownEvent)
  const started = events.findLast((event): event is StoredStart => event.type === 'ENGINE_START')
  if (started === undefined) return
  const { seq: _seq, timestamp: _time, parent: _parent, paths: _paths, ...start } = started
  record(state, { ...start, retry: true })
}

type StoredStart = Extract<JournalEvent, { type: 'ENGINE_START' }>

function fromHere(state: RunState, replay: Replay): RunState {
  const { lastIteration, iterationsSinceMessage } = state.run.summary()
  const maxIterations = replay.maxIterations() ?? state.maxIterations
  return {
    ...state,
    maxIterations,
    firstIteration: lastIteration + 1,
    lastAllowedIteration: lastIteration + maxIterations - iterationsSinceMessage,
  }
}

function endOfRecord(error: unknown): Outcome {
  if (error instanceof EndOfRecord) return error.outcome
  throw error
}
