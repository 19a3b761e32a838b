import type { Tool } from '@delta/executor'
import { toJsonSchema } from '@delta/tool-expander'
import { dynamicTool, jsonSchema, type ToolSet } from 'ai'
import { type AdapterOptions, outputOf, runnerAfterApproval } from './runner.js'

/**
 * Tools for `generateText` and `streamText` of the AI SDK (package `ai`), by name.
 *
 * What a tool prints is its result. A call that fails, is refused or is blocked becomes a `tool-error`, and the model reads why.
 * A call that the policy puts to a person is a `tool-approval-request`, unless there is `confirm` to ask. Aborting the
 * generation ends the command that is running.
 *
 * @throws {AdapterError} `ERR_ADAPTER_DUPLICATE`
 * @example
 * await generateText({ model, prompt, tools: toAiSdkTools(tools), stopWhen: stepCountIs(10) })
 */
export function toAiSdkTools(tools: readonly Tool[], options: AdapterOptions = {}): ToolSet {
  const { run, approvalOf } = runnerAfterApproval(tools, options)
  const entries = tools.map((tool) => {
    const { name, description } = tool.expanded
    const needsApproval = approvalOf(tool)
    const made = dynamicTool({
      ...(description !== undefined && { description }),
      // No validation here: the executor's refusals say more.
      inputSchema: jsonSchema({ ...toJsonSchema(tool.expanded) }),
      ...(needsApproval && { needsApproval }),
      execute: async (input, { toolCallId, abortSignal }) =>
        outputOf(await run({ id: toolCallId, name, arguments: input }, abortSignal)),
    })
    return [name, made]
  })
  return Object.fromEntries(entries)
}
