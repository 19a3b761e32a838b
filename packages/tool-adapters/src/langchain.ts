import type { Tool } from '@delta/executor'
import { toJsonSchema } from '@delta/tool-expander'
import { DynamicStructuredTool } from '@langchain/core/tools'
import { type AdapterOptions, createRunner } from './runner.js'

/**
 * Tools for LangChain and LangGraph (package `@langchain/core`).
 *
 * What a tool prints is its output, also when it fails. LangChain itself checks arguments against the
 * schema before it calls a tool, and throws its own `ToolInputParsingException` for those that do not
 * fit; LangGraph's `ToolNode` turns that into an answer.
 *
 * @throws {AdapterError} `ERR_ADAPTER_DUPLICATE`
 */
export function toLangChainTools(
  tools: readonly Tool[],
  options: AdapterOptions = {},
): DynamicStructuredTool[] {
  const run = createRunner(tools, options)
  return tools.map(({ expanded }) => {
    const { name, description = '' } = expanded
    return new DynamicStructuredTool({
      name,
      description,
      schema: { ...toJsonSchema(expanded) },
      func: async (input, _manager, config) => {
        const result = await run({ name, arguments: input }, config?.signal)
        return result.observation
      },
    })
  })
}
