import type { Tool } from '@delta/executor'
import { type JsonSchema, toFunctionTool } from '@delta/tool-expander'
import { type FunctionTool, tool } from '@openai/agents'
import { type AdapterOptions, runnerFor } from './runner.js'

type StrictSchema = Omit<JsonSchema, 'additionalProperties'> & { additionalProperties: false }

/**
 * Tools for an `Agent` of the OpenAI Agents SDK (package `@openai/agents`), in strict mode where that can describe them.
 *
 * What a tool prints is its output, also when it fails or its arguments are refused: the model reads
 * why. Aborting the run ends the command that is running.
 *
 * @throws {AdapterError} `ERR_ADAPTER_DUPLICATE`, `ERR_ADAPTER_OPTIONS`
 */
export function toOpenAIAgentsTools(tools: readonly Tool[], options: AdapterOptions = {}): FunctionTool[] {
  const run = runnerFor('toOpenAIAgentsTools', tools, options)
  return tools.map(({ expanded }) => {
    const { name, parameters, strict = false } = toFunctionTool(expanded, { strict: true }).function
    const made = tool({
      name,
      description: expanded.description ?? '',
      parameters: parameters as StrictSchema, // the types ask for that also where it is not strict
      ...({ strict } as { strict: true }),
      execute: async (input, _context, details) => {
        const result = await run({ id: details?.toolCall?.callId, name, arguments: input }, details?.signal)
        return result.observation
      },
    })
    return made as unknown as FunctionTool // agents take any function tool; the type of its parameters says more
  })
}
