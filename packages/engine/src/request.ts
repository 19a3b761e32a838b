import type { Agent } from '@delta/config-loader'
import { type ChatRequest, type FunctionTool, LLM_DEFAULTS, streamingRequest } from '@delta/model'
import { toFunctionTool } from '@delta/tool-expander'
import { askHumanTool, strictAskHumanTool } from './human.js'

/** The request for these messages, with the agent's parameters and tools. */
export function requestFor(agent: Agent, messages: ChatRequest['messages']): ChatRequest {
  const { provider, model, parameters, stream = LLM_DEFAULTS.stream } = agent.llm
  const request = { ...(model !== undefined && { model }), ...parameters, messages, tools: toolsOf(agent) }
  return provider === 'openai' && stream ? streamingRequest(request) : request
}

function toolsOf({ tools, llm: { strictTools: strict = LLM_DEFAULTS.strictTools } }: Agent): FunctionTool[] {
  return [
    ...[...tools.values()].map(({ expanded }) => toFunctionTool(expanded, { strict })),
    strict ? strictAskHumanTool : askHumanTool,
  ]
}
