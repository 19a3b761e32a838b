import type { Tool } from '@delta/executor'
import { toJsonSchema } from '@delta/tool-expander'
import { dynamicTool, jsonSchema, type ToolSet } from 'ai'
import { type AdapterOptions, runnerFor } from './runner.js'

/**
 * Tools for `generateText` and `streamText` of the AI SDK (package `ai`), by name.
 *
 * What a tool prints is its result, also when it fails or its arguments are refused: the model reads
 * why. Aborting the generation ends the command that is running.
 *
 * @throws {AdapterError} `ERR_ADAPTER_DUPLICATE`, `ERR_ADAPTER_OPTIONS`
 */
export function toAiSdkTools(tools: readonly Tool[], options: AdapterOptions = {}): ToolSet {
  const run = runnerFor('toAiSdkTools', tools, options)
  const entries = tools.map(({ expanded }) => [
    expanded.name,
    dynamicTool({
      ...(expanded.description !== undefined && { description: expanded.description }),
      // No validation here: the executor's refusals say more.
      inputSchema: jsonSchema({ ...toJsonSchema(expanded) }),
      execute: async (input, { toolCallId, abortSignal }) => {
        const result = await run({ id: toolCallId, name: expanded.name, arguments: input }, abortSignal)
        return result.observation
      },
    }),
  ])
  return Object.fromEntries(entries)
}
