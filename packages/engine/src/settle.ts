import type { HumanInputRequest, PendingCall, RunSummary } from '@delta/journal'
import { actOn } from './act.js'
import type { ActiveRun } from './active-run.js'
import { conclude } from './conclude.js'
import { notifyHook } from './hooks/notify.js'
import { resumeAskHuman } from './human/ask-human.js'
import { ASK_HUMAN } from './human/question.js'
import type { Outcome } from './outcome.js'
import { settleStarted } from './settle-started.js'

/**
 * Settles what the last engine left open: calls that may have started, calls that never did, a question that waits.
 * A last thought without calls is the answer, and the model is not asked again. Afterwards every call of the journal
 * has its one result.
 */
export async function settle(run: ActiveRun): Promise<Outcome | undefined> {
  const summary = run.run.summary()
  for (const call of summary.pendingCalls) {
    const stopped = await settleCall(run, call, waitingFor(summary, call))
    if (stopped) return stopped
  }
  if (summary.pendingCalls.length > 0) {
    const stopped = await notifyHook(run, 'on_iteration_end', { iteration: summary.lastIteration })
    if (stopped) return stopped
  }
  const { answer, lastThought } = summary
  return answer === undefined || !lastThought ? undefined : conclude(lastThought)
}

function settleCall(
  run: ActiveRun,
  call: PendingCall,
  waiting: HumanInputRequest | undefined,
): Promise<Outcome | undefined> {
  const { iteration } = call
  if (call.name === ASK_HUMAN) return resumeAskHuman(run, call, waiting)
  if (call.requested) return settleStarted(run, call, waiting)
  return actOn(run, call, { iteration, attempt: 1, ...(waiting ? { waiting } : {}) })
}

function waitingFor(summary: RunSummary, call: PendingCall): HumanInputRequest | undefined {
  return summary.humanRequest?.action_id === call.action_id ? summary.humanRequest : undefined
}
