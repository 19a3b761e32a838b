import type { Hook } from '@delta/config-loader'
import type { ActiveRun } from '../active-run.js'
import type { HookInput } from './hook-input.js'

/** `TOOL_RESULT` is cut here; the whole is in `input/payload.dat`. Bytes. */
const RESULT_LIMIT = 32 * 1024

/** A hook's environment: the base set of every command, then what this event is about. */
export function hookEnvironment(
  run: ActiveRun,
  hook: Hook,
  { directory, input }: { directory: string; input: HookInput },
): NodeJS.ProcessEnv {
  const passed = Object.fromEntries(hook.passEnv.map((name) => [name, run.credentials[name]]))
  return {
    ...run.environment,
    ...passed,
    DELTA_HOOK_IO_PATH: directory,
    ITERATION_COUNT: String(input.iteration),
    ...(input.actionId === undefined ? {} : { DELTA_ACTION_ID: input.actionId }),
    ...(input.toolName === undefined ? {} : { TOOL_NAME: input.toolName }),
    ...(input.toolResult === undefined ? {} : { TOOL_RESULT: cut(input.toolResult) }),
    ...(input.errorMessage === undefined ? {} : { ERROR_MESSAGE: input.errorMessage }),
  }
}

/** The environment cannot hold NUL, and one variable at most 128 KB on Linux. */
function cut(text: string): string {
  const bytes = Buffer.from(text.replaceAll('\0', '\\0'))
  return bytes.length <= RESULT_LIMIT
    ? bytes.toString()
    : new TextDecoder().decode(bytes.subarray(0, RESULT_LIMIT)).replace(/�$/, '')
}
