import type { Step } from '../steps.js'
import type { Trace } from '../trace.js'
import { argumentsOf, type ChatMessage, chatOf } from './as-chat.js'
import { type ExportOptions, writerFor } from './document.js'

/**
 * A run as one line of chat for fine-tuning: the last request, and the answer. Nothing of a run that did not end `answered`, or
 * whose last request is not recorded.
 */
export async function* toSft(trace: Trace, options: ExportOptions): AsyncGenerator<string> {
  const { run } = trace
  const { agent_name: agent, reason_code, status } = run.metadata
  if (status !== 'COMPLETED' || (reason_code ?? 'answered') !== 'answered') return
  const { last, own } = await lastAnswer(trace)
  const chat = await chatOf(last?.request)
  if (chat === undefined || last?.thought === undefined) return
  const messages = [...weighed(chat.messages, own), answerOf(last.thought)]
  const score = run.cell?.score ?? undefined
  const metadata = { run_id: run.runId, agent, model: last.request?.model, reason_code: 'answered', score }
  yield `${writerFor(run, options)({ messages, tools: chat.tools, metadata })}\n`
}

/** The last step that has an answer, and how many answers of this run came before it. */
async function lastAnswer(trace: Trace): Promise<{ last: Step | undefined; own: number }> {
  let last: Step | undefined
  let own = -1
  for await (const step of trace.steps()) {
    if (!step.thought) continue
    last = step
    if (!step.inherited) own += 1
  }
  return { last, own }
}

/** The newest answers are this run's. Those before them are of the run of which it is a fork: not to be learned again. */
function weighed(messages: readonly ChatMessage[], own: number): object[] {
  let inherited = messages.filter(({ role }) => role === 'assistant').length - own
  return messages.map((message) => {
    const isInherited = message.role === 'assistant' && inherited-- > 0
    return { ...withObjects(message), ...(isInherited && { weight: 0 }) }
  })
}

function withObjects({ tool_calls, ...message }: ChatMessage): object {
  const calls = tool_calls?.map(({ function: { name, arguments: written }, ...call }) => {
    return { ...call, function: { name, arguments: argumentsOf(written) } }
  })
  return { ...message, ...(calls && { tool_calls: calls }) }
}

/** Reasoning that only its provider can read has a line in its place, and is nothing to learn. */
function answerOf({ content, reasoning = '' }: NonNullable<Step['thought']>): object {
  const readable = reasoning.split('\n\n').filter((part) => !/^\[redacted, \d+ bytes\]$/.test(part))
  const reasoning_content = readable.join('\n\n')
  return { role: 'assistant', content, ...(reasoning_content !== '' && { reasoning_content }) }
}
