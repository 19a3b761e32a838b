import { setMaxListeners } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { mayNeedApproval, type PreparedCall, prepareCall } from '@delta/executor'
import { patternBudget } from '@delta/executor/internal'
import type { HumanInputRequest } from '@delta/journal/runs'
import { approve, type Decision, decisionOn } from './approve.js'
import { ASK_HUMAN, askHuman } from './ask-human.js'
import { beyondLimit, cutOffObservation, rejectCall, unmetCritical } from './calls.js'
import { recordSkipped } from './hook-protocol.js'
import { guardCall } from './hooks.js'
import { interrupted, type Outcome } from './outcome.js'
import { approveAsRecorded } from './repeat-call.js'
import { runCall } from './run-call.js'
import { type Call, type ReadyCall, type RunState, variablesOf, warnAuthor } from './run-state.js'

/**
 * Answers every tool call of a thought, in order, up to `tool_concurrency` at once. A call that needs a person, or whose tool is
 * critical, is a barrier: no later call starts before its result. Resolves to an outcome when the run must stop here.
 *
 * When a call cannot be recorded, this engine gives up the run, and stops the calls that run at the same time as a signal
 * would: the next engine must not find them running.
 */
export function act(
  given: RunState,
  calls: readonly Call[],
  iteration: number,
): Promise<Outcome | undefined> {
  const state = { ...given, matcher: patternBudget() }
  const { toolConcurrency: concurrency } = state.agent
  const failing = new AbortController()
  const isAlone = concurrency <= 1 || calls.length <= 1
  const beside = isAlone ? state : { ...state, signal: AbortSignal.any([state.signal, failing.signal]) }
  if (!isAlone) setMaxListeners(0, beside.signal) // each call adds several, and Node.js warns of a leak at the eleventh
  return inOrder(calls, {
    concurrency,
    isBarrier: (call) => isBarrier(state, call),
    each: async (call) => {
      const stopped = await stoppedBetweenCalls(state)
      if (stopped) return stopped
      const observation = beyondLimit(state, calls, call) ?? (await unmetCritical(state))
      if (observation !== undefined) return rejectCall(state, call, { iteration, observation })
      return actOn(beside, call, { iteration, attempt: 1 })
    },
    onFailure: () => failing.abort(),
  })
}

/** A signal is handled in a turn of the event loop. Calls that run nothing would leave it none. */
export async function stoppedBetweenCalls({ signal }: RunState): Promise<Outcome | undefined> {
  await nextTurn()
  return signal.aborted ? interrupted(signal) : undefined
}

/** Looks at the tool alone: a call that needs approval is a barrier even if its arguments will be refused. */
function isBarrier({ agent, alwaysAllowed }: RunState, { name }: Call): boolean {
  const tool = agent.tools.get(name)
  if (name === ASK_HUMAN || tool?.settings.critical) return true
  if (tool === undefined || alwaysAllowed.has(name)) return false
  return mayNeedApproval(tool, agent.policy)
}

interface Attempt {
  iteration: number
  /** 1 unless an earlier engine died while the call ran. */
  attempt: number
  /** The question about this call that an earlier engine left open. */
  waiting?: HumanInputRequest | undefined
  /** The command that a person has just approved. */
  approved?: ReadyCall
}

/**
 * Handles one tool call: look up, validate, policy, hook, person, then run or reject. The call gets exactly one
 * `ACTION_RESULT`, whatever the model sent, unless the run stops for a person or a signal before the call begins.
 */
export async function actOn(
  state: RunState,
  call: Call,
  { iteration, attempt, waiting, approved }: Attempt,
): Promise<Outcome | undefined> {
  if (state.signal.aborted) return interrupted(state.signal)
  if (call.name === ASK_HUMAN) return askHuman(state, call, iteration)

  const cut = cutOffObservation(state, call)
  if (cut !== undefined)
    return rejectCall(state, call, { iteration, attempt, status: 'ERROR', observation: cut })
  const prepared = approved ?? prepare(state, call)
  if (prepared.decision === 'refuse') {
    warnAuthor(state, prepared.advice)
    return rejectCall(state, call, { iteration, attempt, ...prepared })
  }

  const { args } = prepared
  const guarded = await guardCall(state, call, prepared, iteration)
  if (typeof guarded === 'object') return guarded
  if (guarded !== undefined) {
    rejectCall(state, call, { iteration, attempt, args, observation: guarded })
    return recordSkipped(state, 'post_tool_execution', { iteration, actionId: call.action_id })
  }

  const approval = approved ? 'yes' : await approvalOf(state, call, prepared, { iteration, waiting })
  if (typeof approval === 'object') return approval
  if (approval === 'no') {
    const observation = 'A person was asked and said no. The command was not run.'
    return rejectCall(state, call, { iteration, attempt, args, observation })
  }
  return runCall(state, call, prepared, { iteration, attempt })
}

/** A person's decision counts even if the policy allows the call by now. */
function approvalOf(
  state: RunState,
  call: Call,
  prepared: ReadyCall,
  about: { iteration: number; waiting: HumanInputRequest | undefined },
): Promise<Decision> | Decision {
  if (state.replay) return approveAsRecorded(state, call, prepared, state.replay)
  const isNeeded = prepared.decision === 'ask' && !state.alwaysAllowed.has(call.name)
  const isDecided = about.waiting !== undefined && decisionOn(state, about.waiting) !== undefined
  return isNeeded || isDecided ? approve(state, call, prepared, about) : 'yes'
}

/** Looks a call up, validates it, asks the policy and binds its arguments. Runs nothing. */
export function prepare(state: RunState, call: Call): PreparedCall {
  return prepareCall(state.agent.tools, call, {
    variables: variablesOf(state),
    runsDirectory: state.run.runsDirectory,
    imported: state.agent.imported,
    otherNames: [ASK_HUMAN],
    policy: state.agent.policy,
    matches: state.matcher(),
  })
}

/**
 * Runs `each` over the items in order, at most `concurrency` at once. A barrier starts after all earlier items have
 * ended, and later items start after it. After the first defined result no further item starts; that result is returned
 * once the started items have ended.
 */
export async function inOrder<Item, Stop>(
  items: readonly Item[],
  options: {
    concurrency: number
    isBarrier(item: Item): boolean
    each(item: Item): Promise<Stop | undefined>
    /** Called when an item has failed; others may still run. */
    onFailure?(): void
  },
): Promise<Stop | undefined> {
  const running = new Set<Promise<void>>()
  let stop: Stop | undefined
  let failure: { error: unknown } | undefined
  const fail = (error: unknown) => {
    failure ??= { error }
    options.onFailure?.()
  }

  for (const item of items) {
    const alone = options.concurrency <= 1 || options.isBarrier(item)
    while (running.size > 0 && (alone || running.size >= options.concurrency)) await Promise.race(running)
    if (stop !== undefined || failure) break
    const task: Promise<void> = options
      .each(item)
      .then((result) => {
        stop ??= result
      }, fail)
      .finally(() => running.delete(task))
    running.add(task)
    if (alone) await task
    if (stop !== undefined || failure) break
  }
  await Promise.all(running)
  if (failure) throw failure.error
  return stop
}
