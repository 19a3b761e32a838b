import type { Agent } from '@delta/config-loader'
import { type ChatRequest, streamingRequest } from '@delta/model'
import { toFunctionTool } from '@delta/tool-expander'
import { askHumanTool } from './human/question.js'

/** The body that is sent for these messages: the agent's parameters and tools around them. */
export function requestFor(
  agent: Agent,
  messages: ChatRequest['messages'],
  { stream }: { stream: boolean },
): ChatRequest {
  const tools = [...agent.tools.values()].map((tool) => toFunctionTool(tool.expanded, {}))
  const request = {
    ...(agent.llm.model === undefined ? {} : { model: agent.llm.model }),
    ...agent.llm.parameters,
    messages,
    tools: [...tools, askHumanTool],
  }
  return stream ? streamingRequest(request) : request
}
