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

/** Where and how the calls of a message run, and who hears of them. */
export interface DispatchOptions extends AdapterOptions {
  /** Ends the commands that run; every call is answered all the same. */
  signal?: AbortSignal | undefined
  /** How many calls of one message run at the same time. Default 1: in the order of the message. */
  concurrency?: number | undefined
  /** Sees each result as it comes, for logs. */
  onResult?: ((call: { id: string; name: string }, result: ToolResult) => void) | undefined
}

/**
 * Tools as the `tools` of a chat completion request.
 *
 * @throws {AdapterError} `ERR_ADAPTER_DUPLICATE`.
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
 * @throws {AdapterError} `ERR_ADAPTER_MESSAGE`: `message` is none, `tool_calls` is no list, or a call has no id, so no answer could name it.
 *   `ERR_ADAPTER_OPTIONS`: `concurrency` is no number from 1. `ERR_ADAPTER_DUPLICATE`.
 */
export async function dispatch(
  tools: readonly Tool[],
  message: MessageWithCalls,
  options: DispatchOptions = {},
): Promise<ToolMessage[]> {
  const { signal, concurrency = 1, onResult, ...adapter } = options
  // With none at a time, no call would be answered.
  if (!(concurrency >= 1)) {
    const message =
      'dispatch: the option concurrency is missing or invalid.\nPass a number from 1, or nothing.'
    throw new AdapterError('ERR_ADAPTER_OPTIONS', message)
  }
  const run = createRunner(tools, adapter)
  const calls = readCalls(fields(message).tool_calls ?? noCalls(message))
  const answers: ToolMessage[] = []
  await inParallel(calls, concurrency, async (call, index) => {
    const result = await run(call, signal)
    onResult?.({ id: call.id, name: call.name }, result)
    answers[index] = { role: 'tool', tool_call_id: call.id, content: result.observation }
  })
  return answers
}

/**
 * An assistant that only talks has a message without `tool_calls`. What is no message at all was passed by mistake, and so
 * were a whole response and a promise: a loop would end there as if the model had nothing to do.
 */
function noCalls(message: unknown): [] {
  const { choices, then } = fields(message)
  const isElse = Array.isArray(message) || choices !== undefined || typeof then === 'function'
  if (typeof message === 'object' && message !== null && !isElse) return []
  throw new AdapterError(
    'ERR_ADAPTER_MESSAGE',
    'dispatch: the message is missing or invalid.\nPass the message of the assistant as the API sent it: choices[0].message of a response.',
  )
}

function readCalls(calls: unknown): ReturnType<typeof readCall>[] {
  if (Array.isArray(calls)) return calls.map(readCall)
  throw new AdapterError(
    'ERR_ADAPTER_MESSAGE',
    'tool_calls of the message is not a list. Give the message as the API sent it.',
  )
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

async function inParallel<T>(
  items: readonly T[],
  limit: number,
  work: (item: T, index: number) => Promise<void>,
) {
  const queue = items.entries()
  const worker = async () => {
    for (const [index, item] of queue) await work(item, index)
  }
  await Promise.all(Array.from({ length: Math.min(Math.floor(limit), items.length) }, worker))
}
