import type { Agent } from '@delta/config-loader'
import { type ChatRequest, type FunctionTool, LLM_DEFAULTS, streamingRequest } from '@delta/model'
import { toFunctionTool } from '@delta/tool-expander'
import { askHumanTool, strictAskHumanTool } from './human/question.js'

/** The request for these messages, with the agent's parameters and tools. */
export function requestFor(
  agent: Agent,
  messages: ChatRequest['messages'],
  { stream, refusedKeys }: { stream: boolean; refusedKeys?: ReadonlySet<string> },
): ChatRequest {
  const { model, parameters } = agent.llm
  const request = { ...(model !== undefined && { model }), ...parameters, messages, tools: toolsOf(agent) }
  return without(refusedKeys, stream ? streamingRequest(request) : request)
}

function without(keys: ReadonlySet<string> | undefined, request: ChatRequest): ChatRequest {
  if (!keys?.size) return request
  return Object.fromEntries(Object.entries(request).filter(([key]) => !keys.has(key))) as ChatRequest
}

function toolsOf({ tools, llm: { strictTools: strict = LLM_DEFAULTS.strictTools } }: Agent): FunctionTool[] {
  return [
    ...[...tools.values()].map(({ expanded }) => toFunctionTool(expanded, { strict })),
    strict ? strictAskHumanTool : askHumanTool,
  ]
}
