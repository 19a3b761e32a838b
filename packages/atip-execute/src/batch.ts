import type { ToolCall } from '@delta/atip'
import { TimeoutError } from './errors.js'
import type { FormattedResult } from './format-result.js'

/** How several calls are run. */
export interface BatchOptions {
  /** Run several at the same time. Default false: one after the other. */
  parallel?: boolean | undefined
  /** Default true. Otherwise nothing new is started after the first failure. */
  continueOnError?: boolean | undefined
  /** How many at the same time; default 4. */
  maxConcurrency?: number | undefined
}

/** What several calls came to. */
export interface BatchExecutionResult {
  /** In the order of the calls; shorter when a failure stopped the rest. */
  results: FormattedResult[]
  /** Milliseconds. */
  totalDuration: number
  successCount: number
  /** Refused calls and thrown errors among them. */
  failureCount: number
}

/** Runs calls with `execute`. What it throws becomes a result whose content is `Error: …`. */
export async function runBatch(
  calls: readonly ToolCall[],
  execute: (call: ToolCall) => Promise<FormattedResult>,
  options: BatchOptions = {},
): Promise<BatchExecutionResult> {
  const { parallel = false, continueOnError = true, maxConcurrency = 4 } = options
  const started = performance.now()
  const results: (FormattedResult | undefined)[] = []
  const queue = calls.entries()
  let stopped = false
  const worker = async () => {
    for (const [index, call] of queue) {
      const result = await execute(call).catch((error: unknown) => failed(call, error))
      results[index] = result
      stopped ||= !continueOnError && !result.success
      if (stopped) return
    }
  }
  const workers = parallel ? Math.max(1, Math.min(maxConcurrency, calls.length)) : 1
  await Promise.all(Array.from({ length: workers }, worker))

  const done = results.filter((result) => result !== undefined)
  const successCount = done.filter(({ success }) => success).length
  return {
    results: done,
    totalDuration: performance.now() - started,
    successCount,
    failureCount: done.length - successCount,
  }
}

function failed(call: ToolCall, error: unknown): FormattedResult {
  const message = error instanceof Error ? error.message : String(error)
  const timedOut = error instanceof TimeoutError
  return {
    content: `Error: ${message}`,
    success: false,
    raw: {
      success: false,
      exitCode: timedOut ? 124 : 1,
      stdout: timedOut ? error.stdout : '',
      stderr: timedOut ? error.stderr : message,
      duration: timedOut ? error.timeout : 0,
      truncated: false,
      timedOut,
      command: timedOut ? error.command : [],
      toolCallId: Object(call).id,
      toolName: Object(call).name,
    },
  }
}
