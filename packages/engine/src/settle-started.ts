import { join, relative } from 'node:path'
import { interruptedResult, interruptPolicy, removeInlined } from '@delta/executor'
import type { HumanInputRequest, PendingCall } from '@delta/journal'
import { actOn, prepare } from './act.js'
import type { LeftCall } from './calls/orphan.js'
import { approve, type Decision, resumeApproval, secretTokens } from './human.js'
import type { Outcome } from './outcome.js'
import { outputPrefixOf } from './run-call.js'
import { type RunState, record } from './run-state.js'

/**
 * Settles a call that may have started before the last engine died; what was left of its process has been ended. The
 * tool's `on_interrupt` decides:
 *
 * - `report`, the default, and always when the user has said something since: the model is told that the outcome is unknown;
 * - `rerun`: the call is made again, and its `ACTION_REQUEST` says so;
 * - `ask`: a person chooses.
 */
export async function settleStarted(
  state: RunState,
  call: PendingCall,
  {
    left,
    waiting,
    userSpokeLast,
  }: { left: LeftCall; waiting: HumanInputRequest | undefined; userSpokeLast: boolean },
): Promise<Outcome | undefined> {
  if (left.request) state.emit({ kind: 'open', event: left.request })
  const tool = state.agent.tools.get(call.name)
  const corrected = userSpokeLast && !waiting // a user who corrects a run does not want the old plan's commands again
  const policy = tool && !corrected ? interruptPolicy(tool) : 'report'
  const again = { iteration: call.iteration, attempt: call.attempts + 1 }
  if (policy === 'rerun') return actOn(state, call, { ...again, waiting })

  const decision = policy === 'ask' ? await askToRunAgain(state, call, waiting) : 'no'
  if (typeof decision === 'object') return decision
  // this approval covers the policy's question too: it showed the same command
  if (decision === 'yes') return actOn(state, call, { ...again, approved: true })
  reportInterruption(state, call, left)
  return undefined
}

async function askToRunAgain(
  state: RunState,
  call: PendingCall,
  waiting: HumanInputRequest | undefined,
): Promise<Decision> {
  const prepared = prepare(state, call)
  if (prepared.decision === 'refuse') return 'no'
  const asked = { ...prepared, reasons: [...prepared.reasons, 'it was interrupted and may have run already'] }
  const { iteration } = call
  return waiting
    ? resumeApproval(state, call, asked, { iteration, request: waiting })
    : approve(state, call, asked, iteration)
}

function reportInterruption(state: RunState, call: PendingCall, { recordPath, wasRunning }: LeftCall): void {
  const outputPrefix = outputPrefixOf(recordPath ?? join(state.run.paths.toolExecutions, call.action_id))
  const result = interruptedResult(state.agent.tools.get(call.name), {
    workDirectory: state.run.workDirectory,
    policy: state.agent.policy,
    credentials: state.credentials,
    secretTokens: secretTokens(state.run.paths.secrets),
    outputPrefix,
    wasRunning,
  })
  record(state, {
    type: 'ACTION_RESULT',
    iteration: call.iteration,
    action_id: call.action_id,
    tool_name: call.name,
    status: result.status,
    exit_code: null,
    signal: null,
    observation_content: result.observation,
    execution_ref: recordPath === undefined ? null : relative(state.run.directory, recordPath),
    duration_ms: null,
  })
  removeInlined(outputPrefix, result)
}
