import { existsSync } from 'node:fs'
import type { HumanInputRequest, PendingCall, RunSummary } from '@delta/journal'
import { actOn } from './act.js'
import { endOrphansOf, type LeftCall } from './calls/orphan.js'
import { beyondLimit, failedBefore, leaveOut, missingCritical } from './calls.js'
import { endOrphanedHooks } from './hooks/end-orphaned.js'
import { missedIterationEnd, reportMissedResults, stoppedBefore } from './hooks/missed.js'
import { notifyHook } from './hooks.js'
import { ASK_HUMAN, clearInteraction, resumeAskHuman } from './human.js'
import { endOrphanedGenerator } from './orphaned-generator.js'
import { conclude, type Outcome, recordedFailure } from './outcome.js'
import type { RunState } from './run-state.js'
import { settleStarted } from './settle-started.js'

/**
 * Settles what the last engine left open: hooks and generators that are still running, hooks that were never called, calls
 * that may have started, calls that did not, a question that waits for its answer. If the last thought has no calls, it is
 * the answer, and the model is not asked again; if the last engine has recorded that the run failed, it stays so. Otherwise,
 * afterwards every call in the journal has exactly one result.
 */
export async function settle(state: RunState): Promise<Outcome | undefined> {
  const summary = state.run.summary()
  const { interaction } = state.run.paths
  if (!summary.humanRequest && existsSync(interaction)) clearInteraction(interaction) // answered as the engine was killed
  await endOrphanedHooks(state)
  await endOrphanedGenerator(state)
  const left = await endOrphansOf(state, summary.pendingCalls.filter(mayHaveStarted))
  const ended =
    recordedFailure(summary) ??
    (await stoppedBefore(state, summary)) ??
    (await reportMissedResults(state)) ??
    (await failedBefore(state, summary))
  if (ended) return ended
  for (const call of summary.pendingCalls) {
    const stopped = await settleCall(state, call, {
      left: left.get(call),
      waiting: waitingFor(summary, call),
      userSpokeLast: summary.userSpokeLast,
      refusal: await whyNotBegin(state, call, summary),
    })
    if (stopped) return stopped
  }
  const isOpen = summary.pendingCalls.length > 0 || (await missedIterationEnd(state))
  const about = { iteration: summary.lastIteration }
  const halted = isOpen ? await notifyHook(state, 'on_iteration_end', about) : undefined
  const { answer, lastThought } = summary
  return answer === undefined || !lastThought ? halted : conclude(lastThought, state.agent)
}

/** Why a call that has not begun must not begin any more; undefined if it may, or may have started already. */
async function whyNotBegin(
  state: RunState,
  call: PendingCall,
  { userSpokeLast, lastThought }: RunSummary,
): Promise<string | undefined> {
  if (call.requested) return undefined
  if (userSpokeLast) return SPOKE_FIRST
  return beyondLimit(state, lastThought?.tool_calls ?? [], call) ?? missingCritical(state)
}

/** Whoever stops and corrects a run does not want the rest of the old plan. */
const SPOKE_FIRST =
  'Not run: the user said something before this call began. Read it, then decide how to go on.'

interface Left {
  left: LeftCall | undefined
  waiting: HumanInputRequest | undefined
  userSpokeLast: boolean
  /** Why it must not begin any more. */
  refusal: string | undefined
}

function settleCall(
  state: RunState,
  call: PendingCall,
  { left, waiting, userSpokeLast, refusal }: Left,
): Promise<Outcome | undefined> {
  const { iteration } = call
  if (refusal !== undefined && !waiting) {
    return Promise.resolve(leaveOut(state, call, iteration, refusal))
  }
  if (call.name === ASK_HUMAN) return resumeAskHuman(state, call, waiting)
  if (left) return settleStarted(state, call, { left, waiting, userSpokeLast })
  return actOn(state, call, { iteration, attempt: 1, ...(waiting ? { waiting } : {}) })
}

/** `ask_human` starts no process. */
function mayHaveStarted({ name, requested }: PendingCall): boolean {
  return requested && name !== ASK_HUMAN
}

function waitingFor(summary: RunSummary, call: PendingCall): HumanInputRequest | undefined {
  return summary.humanRequest?.action_id === call.action_id ? summary.humanRequest : undefined
}
