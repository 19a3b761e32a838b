import { existsSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { HookName } from '@delta/config-loader'
import { endOrphans, interruptedResult, removeInlined } from '@delta/executor'
import {
  type ActionRequest,
  type ErrorEvent,
  type HumanInputRequest,
  isKnownEvent,
  type PendingCall,
  type RunSummary,
  type StoredEvent,
} from '@delta/journal/runs'
import { actOn, prepare, stoppedBetweenCalls } from './act.js'
import { approve } from './approve.js'
import { ASK_HUMAN, resumeAskHuman } from './ask-human.js'
import { beyondLimit, rejectCall, unhandledCriticalFailure, unmetCritical } from './calls.js'
import { readControl } from './hook-output.js'
import { notifyHook, reportResult, stopAskedFor } from './hooks.js'
import { clearInteraction } from './interaction.js'
import { conclude, type Outcome, recordedFailure } from './outcome.js'
import { recordLostAnswers } from './paid.js'
import { outputPrefixOf } from './run-call.js'
import { generatorRecordPath, lastEventOf, lastIterationOf, type RunState, record } from './run-state.js'
import { secretTokens } from './secrets.js'
import { childRunsOf } from './tree.js'

/**
 * Settles what the last engine of a resumed run left open: running hooks and generators, hooks that were not run, tool calls that
 * may have started, calls that did not, a question that waits for its answer. If the last thought has no calls, it is the answer,
 * and the model is not asked again. If the last engine recorded a failure, the run stays failed. Otherwise every call in the
 * journal has exactly one result afterwards.
 */
export async function settle(state: RunState): Promise<Outcome | undefined> {
  if (!state.resumed) return undefined
  await recordLostAnswers(state)
  const summary = state.run.summary()
  const { interaction } = state.run.paths
  if (!summary.humanRequest && existsSync(interaction)) clearInteraction(interaction) // the engine was killed after it recorded the answer
  await endOrphanedHooks(state)
  await endOrphanedGenerator(state)
  // before any call is settled, which may take long or wait for a person; in parallel, because each process has its own grace time
  const ending = summary.pendingCalls
    .filter(({ name, requested }) => requested && name !== ASK_HUMAN) // which starts no process
    .map(async (call) => [call, await endOrphansOf(state, call)] as const)
  const left = new Map(await Promise.all(ending))
  const ended =
    recordedFailure(summary) ??
    (await unhandledHookStop(state, summary)) ??
    (await reportMissedResults(state)) ??
    (await unhandledCriticalFailure(state, summary))
  if (ended) return ended
  for (const call of summary.pendingCalls) {
    const stopped =
      (await stoppedBetweenCalls(state)) ?? (await settleCall(state, call, { summary, left: left.get(call) }))
    if (stopped) return stopped
  }
  const isOpen = summary.pendingCalls.length > 0 || (await missedIterationEnd(state))
  const about = { iteration: summary.lastIteration }
  const halted = isOpen ? await notifyHook(state, 'on_iteration_end', about) : undefined
  const { answer, lastThought } = summary
  return answer === undefined || !lastThought ? halted : conclude(lastThought, state.agent)
}

/** Why a call that has not begun must not begin; undefined when it may begin. */
async function reasonNotToBegin(
  state: RunState,
  call: PendingCall,
  { userSpokeLast, lastThought }: RunSummary,
): Promise<string | undefined> {
  if (userSpokeLast) return USER_SPOKE
  return beyondLimit(state, lastThought?.tool_calls ?? [], call) ?? unmetCritical(state)
}

/** A user who stops and corrects a run does not want the rest of the old plan. */
const USER_SPOKE =
  'Not run: the user said something before this call began. Read it, then decide how to go on.'

async function settleCall(
  state: RunState,
  call: PendingCall,
  { summary, left }: { summary: RunSummary; left: LeftCall | undefined },
): Promise<Outcome | undefined> {
  const { iteration } = call
  const { humanRequest, userSpokeLast } = summary
  const waiting = humanRequest?.action_id === call.action_id ? humanRequest : undefined
  if (left) return settleStarted(state, call, { left, waiting, userSpokeLast })
  const mayBegin = call.requested || waiting !== undefined
  const observation = mayBegin ? undefined : await reasonNotToBegin(state, call, summary)
  if (observation !== undefined) return rejectCall(state, call, { iteration, observation })
  if (call.name === ASK_HUMAN) return resumeAskHuman(state, call, waiting)
  return actOn(state, call, { iteration, attempt: 1, waiting })
}

/**
 * Settles a call that may have started before the last engine died; its remaining processes have been ended. The tool's
 * `on_interrupt` decides:
 *
 * - `report`, the default, and always after a user message since: the model reads that the outcome is unknown;
 * - `rerun`: the call runs again, with the next `attempt` in its `ACTION_REQUEST`;
 * - `ask`: a person chooses.
 */
async function settleStarted(
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
  const policy = tool && !corrected ? tool.settings.onInterrupt : 'report'
  const again = { iteration: call.iteration, attempt: call.attempts + 1 }
  if (policy === 'rerun') return actOn(state, call, { ...again, waiting })

  const prepared = policy === 'ask' ? prepare(state, call) : undefined
  if (prepared !== undefined && prepared.decision !== 'refuse') {
    const asked = {
      ...prepared,
      reasons: [...prepared.reasons, 'it was interrupted and may have run already'],
    }
    const decision = await approve(state, call, asked, { iteration: call.iteration, waiting })
    if (typeof decision === 'object') return decision
    // the approval also answers the policy's question: it showed the same command
    if (decision === 'yes') return actOn(state, call, { ...again, approved: prepared })
  }
  await reportInterruption(state, call, left)
  return undefined
}

async function reportInterruption(
  state: RunState,
  call: PendingCall,
  { recordPath, wasRunning }: LeftCall,
): Promise<void> {
  const outputPrefix = outputPrefixOf(recordPath ?? join(state.run.paths.toolExecutions, call.action_id))
  const result = interruptedResult(state.agent.tools.get(call.name), {
    cwd: state.run.workDirectory,
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
    ...(await childRunsOf(state, call.action_id)),
    execution_ref: recordPath === undefined ? null : relative(state.run.directory, recordPath),
    duration_ms: null,
  })
  removeInlined(outputPrefix, result)
}

/** What is left of a call that may have started before its engine died. */
interface LeftCall {
  /** Its last request. */
  request: ActionRequest | undefined
  /** Absolute path of its execution record; undefined when its request names none. */
  recordPath: string | undefined
  /** True when a process of the call was still running. */
  wasRunning: boolean
}

/**
 * Ends the remaining processes of a call. Finds them by their record and, on Linux, by their environment, even without a record.
 * Emits a notice if it ended any.
 */
async function endOrphansOf(state: RunState, call: PendingCall): Promise<LeftCall> {
  const request = lastEventOf(await state.run.events(), 'ACTION_REQUEST', call.action_id)
  const reference = request?.execution_ref ?? undefined
  const recordPath = reference === undefined ? undefined : join(state.run.directory, reference)
  const ended = await endOrphans({
    actionId: call.action_id,
    runDirectory: state.run.directory,
    ...(recordPath === undefined ? {} : { recordPath }),
  })
  const wasRunning = ended.length > 0
  if (wasRunning)
    state.emit({
      kind: 'notice',
      message: `The command of "${call.name}" was still running, and has been ended.`,
    })
  return { request, recordPath, wasRunning }
}

/**
 * Runs `post_tool_execution` for each result that the last engine journaled before it was killed, without running the hook: the
 * hook may replace what the model reads, so it must not be skipped.
 */
async function reportMissedResults(state: RunState): Promise<Outcome | undefined> {
  if (!state.agent.hooks.post_tool_execution) return undefined
  const events = await leftBehind(state)
  const isSeen = (id: string) =>
    events.some((event) => isAudit(event, 'post_tool_execution') && event.action_id === id)
  for (const event of events) {
    if (!isKnownEvent(event) || event.type !== 'ACTION_RESULT') continue
    const { action_id, tool_name, iteration, observation_content: observation } = event
    const ended = event.execution_ref !== null && event.status !== 'INTERRUPTED'
    if (!ended || isSeen(action_id)) continue
    const stopped = await reportResult(state, { action_id, name: tool_name }, { observation }, iteration)
    if (stopped) return stopped
  }
  return undefined
}

/**
 * The end of the run, if a hook asked for it and the last engine was killed before recording it. A message since then cancels it:
 * a person wants the run to continue. An answer stands, even if `on_iteration_end` asked to stop.
 */
async function unhandledHookStop(state: RunState, summary: RunSummary): Promise<Outcome | undefined> {
  if (summary.answer !== undefined) return undefined
  if (Object.keys(state.agent.hooks).length === 0) return undefined
  const events = await leftBehind(state)
  for (const event of events.slice(events.findLastIndex(({ type }) => type === 'USER_MESSAGE') + 1)) {
    if (!isKnownEvent(event) || event.type !== 'HOOK_EXECUTION_AUDIT') continue
    if (event.status !== 'SUCCESS' || !event.io_path_ref) continue
    const name = event.hook_name as HookName
    const { value: control } = readControl(join(state.run.directory, event.io_path_ref), name)
    const stopped = stopAskedFor({ name, control, iteration: event.iteration ?? summary.lastIteration })
    if (stopped) return stopped
  }
  return undefined
}

/** True when the last engine died after the last event of its iteration, before `on_iteration_end` ended. */
async function missedIterationEnd(state: RunState): Promise<boolean> {
  if (!state.agent.hooks.on_iteration_end) return false
  const events = await leftBehind(state)
  const began = events.some(({ type }) => type === 'THOUGHT' || type === 'ACTION_RESULT')
  return began && !events.some((event) => isAudit(event, 'on_iteration_end'))
}

/** True when `on_error` ran for the failure that the last engine recorded. */
export async function wasErrorHookRun(state: RunState, { seq }: ErrorEvent): Promise<boolean> {
  const events = await leftBehind(state)
  return events.some((event) => event.seq > seq && isAudit(event, 'on_error'))
}

/** What the last engine journaled in the last iteration; empty after its `ENGINE_END`, because it left nothing undone. */
async function leftBehind({ run }: RunState): Promise<StoredEvent[]> {
  const events = lastIterationOf(await run.events())
  return events.slice(events.findLastIndex(({ type }) => type === 'ENGINE_END') + 1)
}

function isAudit(event: StoredEvent, hook: string): event is StoredEvent & { action_id?: string } {
  if (!isKnownEvent(event) || event.type !== 'HOOK_EXECUTION_AUDIT') return false
  return event.hook_name === hook && event.status !== 'SKIPPED'
}

/**
 * Ends the hooks that were running when their engine died: this engine may run them again, and no hook may run at the same time
 * as its own repetition. On Linux only, where their environment identifies them. Background processes of a hook that had ended
 * keep running.
 */
async function endOrphanedHooks(state: RunState): Promise<void> {
  const directories = unfinished(state.run.paths.hooks)
  if (directories.length === 0) return
  const ended = await endOrphans({ variables: directories.map((each) => ['DELTA_HOOK_IO_PATH', each]) })
  if (ended.length > 0)
    state.emit({ kind: 'notice', message: 'A hook was still running, and has been ended.' })
}

/** Directories of hooks without a record beside them: it is written as soon as the hook has ended. */
function unfinished(directory: string): string[] {
  const names = new Set(readdirSync(directory))
  return [...names]
    .filter((name) => !name.endsWith('.json') && !names.has(`${name}.json`))
    .map((name) => join(directory, name))
}

/**
 * Ends the generator that was running when its engine died: this engine runs it again, and both would write the same file.
 * Background processes of a generator that had ended keep running.
 */
async function endOrphanedGenerator(state: RunState): Promise<void> {
  const ended = await endOrphans({ recordPath: generatorRecordPath(state) })
  if (ended.length > 0)
    state.emit({ kind: 'notice', message: 'A generator was still running, and has been ended.' })
}
