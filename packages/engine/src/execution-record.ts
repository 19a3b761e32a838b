import { hostname } from 'node:os'
import type { ToolResult } from '@delta/executor'
import type { ReadyCall } from './call.js'
import type { Call } from './call.js'

/** The record of a command that is running: enough to find its process again after a crash. */
export function runningRecord(call: Call, prepared: ReadyCall, process: object): string {
  return text({ ...common(call, prepared), status: 'RUNNING', hostname: hostname(), process })
}

/** The record of a command that has ended; replaces the running one. */
export function executionRecord(call: Call, prepared: ReadyCall, result: ToolResult): string {
  return text({
    ...common(call, prepared),
    status: result.status,
    exit_code: result.exitCode,
    signal: result.signal,
    duration_ms: result.durationMs,
    stdout: result.stdout,
    stderr: result.stderr,
  })
}

function common(call: Call, prepared: ReadyCall): object {
  return { action_id: call.action_id, tool_name: call.name, tool_args: prepared.args, argv: prepared.argv }
}

function text(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
