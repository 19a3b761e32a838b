import type { Tool, ToolResult } from '@delta/executor'
import { type FunctionTool, toFunctionTool } from '@delta/tool-expander'
import { AdapterError } from './errors.js'
import { type AdapterOptions, checkNames, createRunner } from './runner.js'

/** The answer to one tool call, as the next request of a chat completion wants it. */
export interface ToolMessage {
  role: 'tool'
  tool_call_id: string
  /** What the model reads. */
  content: string
}

/** An assistant's message. Only its calls matter here; the rest is named so that it can be written out. */
export interface MessageWithCalls {
  tool_calls?: readonly unknown[] | null | undefined
  role?: unknown
  content?: unknown
}

/** Where and how the calls of a message run. */
export interface DispatchOptions extends AdapterOptions {
  /** Ends the commands that run; every call is answered all the same. */
  signal?: AbortSignal | undefined
  /** How many calls of one message run at the same time, at least 1. Default 1: in the order of the message. */
  concurrency?: number | undefined
  /** Sees each result as it comes, for logs. */
  onResult?: ((call: { id: string; name: string }, result: ToolResult) => void) | undefined
}

/**
 * Tools as the `tools` of a chat completion request.
 *
 * @throws {AdapterError} `ERR_ADAPTER_DUPLICATE`.
 * @example
 * await client.chat.completions.create({ model, messages, tools: toOpenAITools(tools) })
 */
export function toOpenAITools(
  tools: readonly Tool[],
  options: { strict?: boolean | undefined } = {},
): FunctionTool[] {
  checkNames(tools)
  return tools.map((tool) => toFunctionTool(tool.expanded, { strict: options.strict === true }))
}

/**
 * Answers every tool call of an assistant's message: unknown tools, broken arguments, refusals,
 * failures and timeouts too, because an API refuses a conversation in which one is missing.
 *
 * @returns one message per call, in the order of the calls; `[]` when there are none.
 * @throws {AdapterError} `ERR_ADAPTER_MESSAGE`: a call has no id, so no answer could name it. `ERR_ADAPTER_DUPLICATE`.
 * @example
 * const [{ message }] = response.choices
 * messages.push(message, ...(await dispatch(tools, message)))
 */
export async function dispatch(
  tools: readonly Tool[],
  message: MessageWithCalls,
  options: DispatchOptions = {},
): Promise<ToolMessage[]> {
  const { signal, concurrency = 1, onResult, ...adapter } = options
  const run = createRunner(tools, adapter)
  const calls = (message.tool_calls ?? []).map(readCall)
  const answers: ToolMessage[] = []
  const queue = calls.entries()
  const work = async () => {
    for (const [index, call] of queue) {
      const result = await run(call, signal)
      onResult?.({ id: call.id, name: call.name }, result)
      answers[index] = { role: 'tool', tool_call_id: call.id, content: result.observation }
    }
  }
  const workers = Math.max(Math.floor(concurrency) || 1, 1) // with none, no call would be answered
  await Promise.all(Array.from({ length: Math.min(workers, calls.length) }, work))
  return answers
}

function readCall(call: unknown): { id: string; name: string; arguments: unknown } {
  const { id, function: called } = fields(call)
  if (typeof id !== 'string')
    throw new AdapterError('ERR_ADAPTER_MESSAGE', 'A tool call has no id, so it cannot be answered.')
  const { name, arguments: args } = fields(called)
  return { id, name: typeof name === 'string' ? name : '', arguments: args }
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
