import type { Tool } from '@delta/executor'
import { type JsonSchema, toFunctionTool } from '@delta/tool-expander'
import { type FunctionTool, tool as makeTool } from '@openai/agents'
import type { Medium } from './media.js'
import { type MediaOptions, runnerAfterApproval } from './runner.js'

type StrictSchema = Omit<JsonSchema, 'additionalProperties'> & { additionalProperties: false }

/**
 * Tools for an `Agent` of the OpenAI Agents SDK (package `@openai/agents`), in strict mode where that can describe them.
 *
 * What a tool prints is its output: a string, or parts where it printed an image or a file. A call that fails, is refused or is blocked is an error of the tool: its span in the trace
 * has it, and the model reads why. A call that the policy puts to a person is one of the run's `interruptions`, unless there
 * is `confirm` to ask. Aborting the run ends the command that is running.
 *
 * @throws {AdapterError} `ERR_ADAPTER_DUPLICATE`
 * @example
 * const agent = new Agent({ name: 'Clerk', tools: toOpenAIAgentsTools(tools) })
 */
export function toOpenAIAgentsTools(tools: readonly Tool[], options: MediaOptions = {}): FunctionTool[] {
  const { outputOf, approvalOf } = runnerAfterApproval(tools, options)
  return tools.map((tool) => {
    const { name, parameters, strict = false } = toFunctionTool(tool.expanded, { strict: true }).function
    const approval = approvalOf(tool)
    const made = makeTool({
      name,
      description: tool.expanded.description ?? '',
      parameters: parameters as StrictSchema, // the types ask for that also where it is not strict
      ...({ strict } as { strict: true }),
      // Only where it may be needed: with a function here, the SDK asks about every call whose arguments are not JSON.
      ...(approval && { needsApproval: async (_context, input: unknown) => approval(input) }),
      errorFunction: (_context, error) => String(error),
      execute: (input, _context, details) =>
        outputOf({ id: details?.toolCall?.callId, name, arguments: input }, details?.signal, toPart),
    })
    return made as unknown as FunctionTool // agents take any function tool; the type of its parameters says more
  })
}

/** What the Responses API is sent; for Chat Completions the SDK keeps the text before it. */
function toPart({ type, mediaType, name: filename, base64: data }: Medium) {
  if (type === 'image') return { type, image: { data, mediaType } }
  return { type, file: { data, mediaType, filename } }
}
