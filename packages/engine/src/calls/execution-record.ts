import type { ToolResult } from '@delta/executor'
import type { Call, ReadyCall } from '../run-state.js'

/** The record of a command that has ended, as the text of its file; it replaces the note of who was running. */
export function executionRecord(call: Call, prepared: ReadyCall, result: ToolResult): string {
  const record = {
    action_id: call.action_id,
    tool_name: call.name,
    argv: prepared.argv,
    status: result.status,
    exit_code: result.exitCode,
    signal: result.signal,
    duration_ms: result.durationMs,
    stdout: result.stdout,
    stderr: result.stderr,
  }
  return `${JSON.stringify(record, null, 2)}\n`
}
