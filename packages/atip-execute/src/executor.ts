import { type AtipCommand, type AtipTool, durationMs, type ToolCall } from '@delta/atip'
import { assertAllowed } from './assert-allowed.js'
import { type BatchExecutionResult, type BatchOptions, runBatch } from './batch.js'
import { buildCommandArray } from './command-array.js'
import { ArgumentValidationError, UnknownCommandError } from './errors.js'
import { type ExecutionOptions, executeCommand } from './execute-command.js'
import { type FormattedResult, formatResult, type OutputOptions } from './format-result.js'
import { type CommandMapping, mapCommands } from './mapping.js'
import { checkPolicy, checkRules, type ExecutionPolicy, type PolicyCheckResult } from './policy.js'
import { givenArguments, type ValidationResult, validateToolCall } from './validate-call.js'

/** What an executor may run, and how. */
export interface ExecutorConfig {
  tools: readonly AtipTool[]
  /** Without it everything is allowed; with it, its defaults fill what it leaves out. */
  policy?: ExecutionPolicy | undefined
  execution?:
    | (ExecutionOptions & {
        /** Passes arguments on as they come. Only for calls no model made. Default false. */
        skipValidation?: boolean | undefined
      })
    | undefined
  output?: OutputOptions | undefined
}

/** The commands of some tools, ready to be called by their flat names; see `createExecutor`. */
export interface Executor {
  /** Look up, validate, policy, confirm, run, redact, format. @throws {AtipExecuteError} */
  execute(call: ToolCall): Promise<FormattedResult>
  /** Several calls; nothing is thrown, an error becomes a result. */
  executeBatch(calls: readonly ToolCall[], options?: BatchOptions): Promise<BatchExecutionResult>
  /** Checks name and arguments; runs nothing, and asks no policy. */
  validate(call: ToolCall): ValidationResult
  /** Undefined: there is no command of this name. */
  mapCommand(toolName: string): CommandMapping | undefined
  /** @throws {UnknownCommandError} */
  checkPolicy(call: ToolCall): PolicyCheckResult
  /** The command as its metadata describes it; undefined when there is none of this name. */
  getMetadata(toolName: string): AtipCommand | undefined
}

/**
 * Makes the one object most programs need. The map from names to commands is built here, once.
 *
 * @throws {AtipExecuteError} `INVALID_CONFIG`: a rule of the policy is unknown, or has a value that it cannot have.
 * @throws {AtipValidationError} A tool is invalid, or one name stands for two commands.
 */
export function createExecutor(config: ExecutorConfig): Executor {
  checkRules(config.policy)
  const mappings = mapCommands(config.tools)
  const mappingOf = (call: ToolCall): CommandMapping => {
    const mapping = mappings.get(call.name)
    if (!mapping) throw new UnknownCommandError(shownName(call.name))
    return mapping
  }
  const execute = (call: ToolCall) => executeCall(call, mappingOf(call), config)
  return {
    execute: async (call) => await execute(call),
    executeBatch: (calls, options) => runBatch(calls, async (call) => await execute(call), options),
    validate: (call) => {
      const mapping = mappings.get(call.name)
      return mapping ? validateToolCall(call, mapping) : unknownCommand(shownName(call.name))
    },
    mapCommand: (toolName) => mappings.get(toolName),
    checkPolicy: (call) => checkPolicy(call, mappingOf(call), config.policy),
    getMetadata: (toolName) => mappings.get(toolName)?.metadata,
  }
}

function shownName(name: unknown): string {
  return typeof name === 'string' ? name : ''
}

async function executeCall(
  call: ToolCall,
  mapping: CommandMapping,
  config: ExecutorConfig,
): Promise<FormattedResult> {
  const command = buildCommandArray(mapping, checkArguments(call, mapping, config))
  await assertAllowed(call, mapping, command, config.policy)
  const { skipValidation: _, ...options } = config.execution ?? {}
  const result = await executeCommand(command, { ...options, ...timeoutOf(mapping, options) })
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
  throw new ArgumentValidationError(
    `The arguments of ${call.name} were not accepted: ${reasons}`,
    call.name,
    errors,
  )
}

function unknownCommand(name: string): ValidationResult {
  const error = { code: 'UNKNOWN_COMMAND' as const, message: `There is no command "${name}".` }
  return { valid: false, errors: [error], warnings: [] }
}

/** A command may ask for its own limit; one that the program was given still holds. 0, which stands for the longest, shortens none. */
function timeoutOf({ effects }: CommandMapping, { timeout }: ExecutionOptions): { timeout?: number } {
  const limits = [timeout, durationMs(effects.duration?.timeout)].flatMap((limit) => limit || [])
  return limits.length > 0 ? { timeout: Math.min(...limits) } : {}
}
