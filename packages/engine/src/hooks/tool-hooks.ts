import type { ToolResult } from '@delta/executor'
import { OBSERVATION } from '../hook-output.js'
import { runHook } from '../hook-protocol.js'
import { interrupted, type Outcome } from '../outcome.js'
import type { Call, ReadyCall, RunState } from '../run-state.js'
import { stopAskedFor } from './notify.js'

type Verdict =
  | { verdict: 'run' }
  | { verdict: 'refuse'; observation: string }
  | { verdict: 'stop'; outcome: Outcome }

/** How long the hook may still look at a result when the run is stopped. Milliseconds. */
const LAST_LOOK_MS = 500

/**
 * `pre_tool_execution`: may refuse the call or stop the run. A guard that fails blocks the call: a crash must not open
 * the door. One that is ended because the run is being stopped has not decided: the call waits for the next engine.
 */
export async function guardCall(
  state: RunState,
  call: Call,
  prepared: ReadyCall,
  iteration: number,
): Promise<Verdict> {
  const data = () =>
    JSON.stringify({ tool_name: call.name, tool_args: prepared.args, argv: prepared.argv }, null, 2)
  const about = { iteration, actionId: call.action_id, toolName: call.name }
  const hook = await runHook(state, 'pre_tool_execution', {
    ...about,
    payload: { file: 'payload.dat', data },
  })
  if (!hook) return { verdict: 'run' }

  const stopped = stopAskedFor(hook)
  if (stopped) return { verdict: 'stop', outcome: stopped }
  if (hook.control?.action === 'skip') return { verdict: 'refuse', observation: hook.control.observation }
  if (!hook.failure) return { verdict: 'run' }
  if (state.signal.aborted) return { verdict: 'stop', outcome: interrupted(state.signal) }
  return {
    verdict: 'refuse',
    observation: `The call was not run, because the ${hook.failure.message.replace(/\.$/, '')}.`,
  }
}

/** `post_tool_execution`: sees the result and may change what the model will read; the `ACTION_RESULT` itself stays. */
export async function reportResult(
  state: RunState,
  call: Pick<Call, 'action_id' | 'name'>,
  result: Pick<ToolResult, 'observation'>,
  iteration: number,
): Promise<Outcome | undefined> {
  const hook = await runHook(state, 'post_tool_execution', {
    iteration,
    actionId: call.action_id,
    toolName: call.name,
    toolResult: result.observation,
    lingerMs: LAST_LOOK_MS,
    payload: { file: 'payload.dat', data: () => result.observation },
    replacement: OBSERVATION,
  })
  return stopAskedFor(hook)
}
