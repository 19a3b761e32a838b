import type { Hook } from '@delta/config-loader'
import type { RunState } from '../run-state.js'
import type { HookInput } from './hook-input.js'

/** Where `TOOL_RESULT` and `ERROR_MESSAGE` are cut; the whole is in `input/`. One variable may hold 128 KB on Linux. */
const LONGEST_VARIABLE_BYTES = 32 * 1024

/** A hook's environment: the base set of every command, then what this event is about. */
export function hookEnvironment(
  state: RunState,
  hook: Hook,
  { directory, input }: { directory: string; input: HookInput },
): NodeJS.ProcessEnv {
  const passed = Object.fromEntries(hook.passEnv.map((name) => [name, state.credentials[name]]))
  return {
    ...state.environment,
    ...passed,
    DELTA_HOOK_IO_PATH: directory,
    ITERATION_COUNT: String(input.iteration),
    ...(input.actionId === undefined ? {} : { DELTA_ACTION_ID: input.actionId }),
    ...(input.toolName === undefined ? {} : { TOOL_NAME: input.toolName }),
    ...(input.toolResult === undefined ? {} : { TOOL_RESULT: cut(input.toolResult) }),
    ...(input.errorMessage === undefined ? {} : { ERROR_MESSAGE: cut(input.errorMessage) }),
  }
}

/** A value that a process can be started with: no NUL, not too long, and no half of a character at its end. */
function cut(text: string): string {
  const bytes = Buffer.from(text.replaceAll('\0', '\\0')).subarray(0, LONGEST_VARIABLE_BYTES)
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true })
}
