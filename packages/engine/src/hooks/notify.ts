import type { HookName } from '@delta/config-loader'
import type { HookOutcome } from '../hook-output.js'
import { type HookInput, runHook } from '../hook-protocol.js'
import type { Outcome } from '../outcome.js'
import type { RunState } from '../run-state.js'

/** Runs a hook that only watches. Resolves to an outcome when it asked for the run to stop. */
export async function notifyHook(
  state: RunState,
  name: HookName,
  input: HookInput,
): Promise<Outcome | undefined> {
  return stopAskedFor(await runHook(state, name, input))
}

/** The end of the run, if the hook's `control.json` asked for it. */
export function stopAskedFor(
  hook: Pick<HookOutcome, 'name' | 'control' | 'iteration'> | undefined,
): Outcome | undefined {
  if (hook?.control?.action !== 'stop') return undefined
  const { name, control, iteration } = hook
  return {
    status: 'FAILED',
    reasonCode: 'hook_stopped',
    reason: `${name} hook: ${control.reason}`,
    iteration,
  }
}
