import { toolEnvironment } from '../environment.js'
import { endOrphans } from '../orphans.js'
import type { RunnableCall } from '../prepare-call.js'
import { runCommand } from '../run-command.js'
import { findWorkingDirectory } from '../sandbox.js'
import { toolTimeoutMs } from '../tool.js'
import {
  keepBytes,
  notRun,
  outputPaths,
  redactors,
  removeInlined,
  type ToolResult,
  toResult,
} from '../tool-result.js'
import { atLast } from './at-last.js'
import type { RunContext } from './run-context.js'

/** An engine that is stopped has 4 seconds, and the command's group may have used half of them. */
const ESCAPED_GRACE_MS = 250
/** How a command ends that was ended from here. */
const STOPPED: ReadonlySet<string> = new Set(['TIMEOUT', 'ABORTED', 'TOO_MUCH_OUTPUT'])

/**
 * Runs a call that `prepareCall` allowed, or a person approved.
 * Whatever the command does is a result.
 *
 * @throws What `onSpawn` throws, and the system's error when redacted output cannot be stored (`ENOSPC`).
 */
export async function runPrepared(call: RunnableCall, context: RunContext): Promise<ToolResult> {
  const { tool } = call
  const directory = findWorkingDirectory(tool, context)
  if (!directory.ok) return notRun('ERROR', `ERROR: ${directory.message} Nothing was run.`)

  const env = toolEnvironment(tool, context, directory.path)
  const started = await atLast(call, context, { cwd: directory.path, env })
  if ('refusal' in started) return notRun('BLOCKED', started.refusal)

  const { outputPrefix, graceMs, signal, onSpawn, secretTokens = {} } = context
  if (signal?.aborted) return notRun('INTERRUPTED', '[interrupted before it started; nothing was run]\n')
  const entrusted = [...(context.secrets ?? []), ...Object.values(secretTokens)]
  const { known } = redactors(tool.settings, context)
  const outcome = await runCommand(started.argv, {
    cwd: directory.path,
    env,
    ...(started.stdin !== undefined && { stdin: started.stdin }),
    ...(outputPrefix !== undefined && outputPaths(outputPrefix)),
    keepBytes: keepBytes(tool.settings),
    timeoutMs: toolTimeoutMs(tool),
    maxOutputBytes: tool.settings.output.maxBytes,
    ...(graceMs !== undefined && { graceMs }),
    ...(signal && { signal }),
    ...(onSpawn && { onSpawn }),
    ...(entrusted.length > 0 && { filter: known.filter }),
  })
  if (STOPPED.has(outcome.status)) await endEscaped(context)
  const result = toResult(outcome, tool, context)
  if (outputPrefix !== undefined && !context.keepOutput) removeInlined(outputPrefix, result)
  return result
}

/** Whoever left the group (`setsid`, a daemon) still carries the call in its environment; the group has had its grace by now. */
async function endEscaped({
  actionId,
  environment: { DELTA_RUN_DIR: runDirectory },
}: RunContext): Promise<void> {
  if (actionId !== undefined && runDirectory !== undefined)
    await endOrphans({ actionId, runDirectory }, { graceMs: ESCAPED_GRACE_MS })
}
