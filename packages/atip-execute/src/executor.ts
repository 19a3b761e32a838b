import type { AtipCommand, AtipTool, ToolCall } from '@delta/atip'
import { durationMs } from '@delta/atip/internal'
import { buildCommandArray, type CommandMapping, mapCommands } from './command.js'
import { ArgumentValidationError, TimeoutError, UnknownCommandError } from './errors.js'
import { type ExecutionOptions, executeCommand } from './execute-command.js'
import { type FormattedResult, formatResult, type OutputOptions } from './format-result.js'
import {
  assertAllowed,
  assertRules,
  checkPolicy,
  type ExecutionPolicy,
  type PolicyCheckResult,
} from './policy.js'
import { givenArguments, type ValidationResult, validateToolCall } from './validate-call.js'

/** What an executor may run, and how. */
export interface ExecutorConfig {
  tools: readonly AtipTool[]
  /** Without it everything is allowed. With it, its defaults fill what it leaves out. */
  policy?: ExecutionPolicy | undefined
  execution?:
    | (ExecutionOptions & {
        /** Passes arguments on as they come. Only for calls your own program makes. Default false. */
        skipValidation?: boolean | undefined
      })
    | undefined
  output?: OutputOptions | undefined
}

/** The commands of some tools, ready to be called by their flat names; see `createExecutor`. */
export interface Executor {
  /**
   * Looks the command up, validates, checks the policy, asks for confirmation, runs, redacts and formats.
   *
   * @param options.signal - Ends the command; the call then rejects with the code `ABORTED`.
   * @throws {AtipExecuteError}
   */
  execute(call: ToolCall, options?: { signal?: AbortSignal | undefined }): Promise<FormattedResult>
  /** Runs several calls. An error becomes a result, and none is thrown. */
  executeBatch(calls: readonly ToolCall[], options?: BatchOptions): Promise<BatchExecutionResult>
  /** Checks name and arguments; runs nothing and asks no policy. */
  validate(call: ToolCall): ValidationResult
  /** Undefined: no command has this name. */
  mapCommand(toolName: string): CommandMapping | undefined
  /** @throws {UnknownCommandError} */
  checkPolicy(call: ToolCall): PolicyCheckResult
  /** The command as its metadata describes it; undefined when no command has this name. */
  getMetadata(toolName: string): AtipCommand | undefined
}

/** How several calls are run. */
export interface BatchOptions {
  /** Run several at the same time. Default false: one after the other. */
  parallel?: boolean | undefined
  /** Default true. Otherwise no call is started after the first failure. */
  continueOnError?: boolean | undefined
  /** How many at the same time; default 4. */
  maxConcurrency?: number | undefined
  /** Ends the commands that are running, and starts no other. */
  signal?: AbortSignal | undefined
}

/** The results of several calls. */
export interface BatchExecutionResult {
  /** In the order of the calls; shorter when a failure stopped the rest. */
  results: FormattedResult[]
  /** Milliseconds. */
  totalDuration: number
  successCount: number
  /** Refused calls and thrown errors among them. */
  failureCount: number
}

/**
 * Makes the one object most programs need. The map from names to commands is built here, once.
 *
 * @throws {AtipExecuteError} `INVALID_CONFIG`: a rule of the policy is unknown, or has a value that it cannot have.
 * @throws {AtipValidationError} A tool is invalid, or one name stands for two commands.
 * @example
 * const executor = createExecutor({ tools: [gh], policy: { allowNetwork: true } })
 * for (const call of parseToolCall('openai', response)) console.log((await executor.execute(call)).content)
 */
export function createExecutor(config: ExecutorConfig): Executor {
  assertRules(config.policy)
  const mappings = mapCommands(config.tools)
  const mappingOf = (call: ToolCall): CommandMapping => {
    const mapping = mappings.get(call.name)
    if (!mapping) throw new UnknownCommandError(call.name)
    return mapping
  }
  const execute: Executor['execute'] = async (call, { signal } = {}) =>
    await executeCall(call, mappingOf(call), config, signal)
  return {
    execute,
    executeBatch: (calls, options) => runBatch(calls, execute, options),
    validate: (call) => {
      const mapping = mappings.get(call.name)
      return mapping ? validateToolCall(call, mapping) : unknownCommand(call.name)
    },
    mapCommand: (toolName) => mappings.get(toolName),
    checkPolicy: (call) => checkPolicy(call, mappingOf(call), config.policy),
    getMetadata: (toolName) => mappings.get(toolName)?.metadata,
  }
}

async function executeCall(
  call: ToolCall,
  mapping: CommandMapping,
  config: ExecutorConfig,
  signal: AbortSignal | undefined,
): Promise<FormattedResult> {
  const command = buildCommandArray(mapping, checkArguments(call, mapping, config))
  await assertAllowed(call, mapping, command, config.policy)
  const { skipValidation: _, ...options } = config.execution ?? {}
  const result = await executeCommand(command, { ...options, ...timeoutOf(mapping, options), signal })
  return formatResult({ ...result, toolCallId: call.id, toolName: call.name }, config.output)
}

function checkArguments(
  call: ToolCall,
  mapping: CommandMapping,
  { execution }: ExecutorConfig,
): Record<string, unknown> {
  if (execution?.skipValidation) return givenArguments(call) ?? {}
  const { errors, normalizedArgs } = validateToolCall(call, mapping)
  if (normalizedArgs) return normalizedArgs
  const reasons = errors.map(({ message }) => message).join(' ')
  const message = `The arguments of ${call.name} were not accepted: ${reasons}`
  throw new ArgumentValidationError(message, call.name, errors)
}

function unknownCommand(name: string): ValidationResult {
  const error = { code: 'UNKNOWN_COMMAND' as const, message: `There is no command "${name}".` }
  return { valid: false, errors: [error], warnings: [] }
}

/** The shorter of the command's own limit and that of the program. 0, which stands for the longest, shortens none. */
function timeoutOf({ effects }: CommandMapping, { timeout }: ExecutionOptions): { timeout?: number } {
  const limits = [timeout, durationMs(effects.duration?.timeout)].flatMap((limit) => limit || [])
  return limits.length > 0 ? { timeout: Math.min(...limits) } : {}
}

async function runBatch(
  calls: readonly ToolCall[],
  execute: Executor['execute'],
  options: BatchOptions = {},
): Promise<BatchExecutionResult> {
  const { parallel = false, continueOnError = true, maxConcurrency = 4, signal } = options
  const started = performance.now()
  const results: (FormattedResult | undefined)[] = []
  const queue = calls.entries()
  let stopped = false
  const worker = async () => {
    for (const [index, call] of queue) {
      const result = await execute(call, { signal }).catch((error: unknown) => failed(call, error))
      results[index] = result
      stopped ||= signal?.aborted || (!continueOnError && !result.success)
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
      toolCallId: call.id,
      toolName: call.name,
    },
  }
}
