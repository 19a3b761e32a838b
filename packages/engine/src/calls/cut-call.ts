import type { Call, RunState } from '../run-state.js'

/**
 * What the model reads when its token limit cut off the arguments of this call of the last thought; undefined otherwise.
 * Arguments cut off before they began are an empty text, as for a tool without parameters, and must not pass for that.
 */
export function cutCall(state: RunState, call: Call): string | undefined {
  if (isJson(call.arguments)) return undefined
  const { finish_reason: reason } = state.run.summary().lastThought ?? {}
  if (reason !== 'length') return undefined
  return [
    `ERROR: the answer was cut off at the model's token limit (finish_reason: length), in the arguments of ${JSON.stringify(call.name)}. Nothing was run.`,
    'Send less at a time, in several calls. Who runs this agent can raise the limit: llm.max_tokens in agent.yaml.',
  ].join('\n')
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false // there is nothing else to learn from the error
  }
}
