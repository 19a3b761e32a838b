import type { Tool } from '@delta/executor'
import { toJsonSchema } from '@delta/tool-expander'
import { dynamicTool, jsonSchema, type ToolSet } from 'ai'
import type { Medium } from './media.js'
import { type MediaOptions, runnerAfterApproval } from './runner.js'

/**
 * Tools for `generateText` and `streamText` of the AI SDK (package `ai`), by name.
 *
 * What a tool prints is its result: a string, or parts where it printed an image or a file. A call that fails, is refused or is
 * blocked becomes a `tool-error`, and the model reads why. A call that the policy puts to a person is a
 * `tool-approval-request`, unless there is `confirm` to ask. Aborting the generation ends the command that is running.
 *
 * @throws {AdapterError} `ERR_ADAPTER_DUPLICATE`
 * @example
 * await generateText({ model, prompt, tools: toAiSdkTools(tools), stopWhen: stepCountIs(10) })
 */
export function toAiSdkTools(tools: readonly Tool[], options: MediaOptions = {}): ToolSet {
  const { outputOf, approvalOf } = runnerAfterApproval(tools, options)
  const entries = tools.map((tool) => {
    const { name, description } = tool.expanded
    const needsApproval = approvalOf(tool)
    const made = dynamicTool({
      ...(description !== undefined && { description }),
      // No validation here: the executor's refusals say more.
      inputSchema: jsonSchema({ ...toJsonSchema(tool.expanded) }),
      ...(needsApproval && { needsApproval }),
      execute: (input, call) => {
        const toPart = 'context' in call ? toPart7 : toPart6 // what a call is given since version 7
        return outputOf<object>({ id: call.toolCallId, name, arguments: input }, call.abortSignal, toPart)
      },
      toModelOutput,
    })
    return [name, made]
  })
  return Object.fromEntries(entries)
}

function toModelOutput({ output }: { output: unknown }) {
  if (typeof output === 'string') return { type: 'text' as const, value: output }
  return { type: 'content' as const, value: output as never } // the parts below
}

/** In the words of `ai` 6, of which 7 says that they are deprecated. */
function toPart6({ type, mediaType, name: filename, base64: data }: Medium) {
  return type === 'image'
    ? { type: 'image-data', data, mediaType }
    : { type: 'file-data', data, mediaType, filename }
}

/** In the words of `ai` 7, which 6 does not know. */
function toPart7({ mediaType, name: filename, base64: data }: Medium) {
  return { type: 'file', mediaType, filename, data: { type: 'data', data } }
}
