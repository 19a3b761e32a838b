import type { Tool } from '@delta/executor'
import { toJsonSchema } from '@delta/tool-expander'
import { ToolMessage } from '@langchain/core/messages'
import { DynamicStructuredTool, type ToolRunnableConfig } from '@langchain/core/tools'
import { type Medium, mediaOf } from './media.js'
import { type AdapterOptions, createRunner } from './runner.js'

/**
 * Tools for LangChain and LangGraph (package `@langchain/core`).
 *
 * What a tool prints is its output, also when it fails or its arguments are refused: the model reads
 * why, in a `ToolMessage` whose status is `error`. Called without a tool call's id, a tool returns the text alone.
 * Images and files are the message's `artifact`, as content blocks for a message of the user. The model reads a line in their place.
 *
 * @throws {AdapterError} `ERR_ADAPTER_DUPLICATE`
 * @example
 * const model = new ChatOpenAI({ model: 'gpt-4o-mini' }).bindTools(toLangChainTools(tools))
 */
export function toLangChainTools(
  tools: readonly Tool[],
  options: AdapterOptions = {},
): DynamicStructuredTool[] {
  const run = createRunner(tools, options)
  return tools.map(({ expanded }) => {
    const { name, description = '' } = expanded
    return new UncheckedTool({
      name,
      description,
      schema: { ...toJsonSchema(expanded) },
      responseFormat: 'content_and_artifact',
      func: async (input, _manager, config?: ToolRunnableConfig) => {
        const id = config?.toolCall?.id
        const result = await run({ id, name, arguments: input }, config?.signal)
        const { status, observation: content } = result
        const media = mediaOf(result)
        const artifact = media.length > 0 ? media.map(toBlock) : undefined
        if (status === 'SUCCESS' || id === undefined) return [content, artifact]
        return [new ToolMessage({ name, tool_call_id: id, status: 'error', content, artifact }), artifact]
      },
    })
  })
}

/** A standard block, which a message of the user may hold. In one of a tool, OpenAI's APIs refuse it or read its bytes as text. */
function toBlock({ type, mediaType: mimeType, name: filename, base64: data }: Medium) {
  if (type === 'image') return { type, mimeType, data }
  return { type, mimeType, data, metadata: { filename } }
}

/**
 * A tool that shows its schema and lets every input through: LangChain throws for what does not
 * fit, and the executor, which checks anyway, gives an answer and takes `"7"` for a number.
 */
class UncheckedTool extends DynamicStructuredTool {
  override call(...input: Parameters<DynamicStructuredTool['call']>) {
    const lenient: DynamicStructuredTool = Object.create(this, { schema: { value: true } })
    return super.call.apply(lenient, input)
  }
}
