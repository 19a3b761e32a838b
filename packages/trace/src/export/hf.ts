import type { Said, Step, StepCall } from '../steps.js'
import type { Trace } from '../trace.js'
import { beginningOf } from './beginning.js'
import { type ExportOptions, placeholderOf, timeIn, writerFor } from './document.js'

/** A run in the Session Trace Simple Format of the Hugging Face Hub: a line about the session, then one for each message. */
export async function* toHf(trace: Trace, options: ExportOptions): AsyncGenerator<string> {
  const { run } = trace
  const { metadata, runId, model } = run
  const write = writerFor(run, options)
  const line = (value: object) => `${write(value)}\n`
  const message = (value: object) => line({ type: 'message', message: value })
  const { agent_name: agent, status, reason_code } = metadata
  const [name = ''] = (metadata.initial_message ?? '').trimStart().split('\n')
  yield line({ type: 'session', harness: 'delta', id: runId, name, agent, model, status, reason_code })

  const { system } = await beginningOf(trace)
  for (const { at, text } of system) yield message({ role: 'system', content: text, ...stamp(at) })
  for await (const step of trace.steps()) {
    for (const said of step.said.filter(({ inherited }) => !inherited)) yield message(messageOf(said))
    if (step.inherited || !step.thought) continue
    yield message(answerOf(step, step.thought))
    for (const call of step.calls) if (call.status !== undefined) yield message(resultOf(call))
  }
}

function messageOf({ role, text, parts, at }: Said): object {
  const content =
    parts?.map((part) => (part.type === 'text' ? part.text : placeholderOf(part))).join('\n') ?? text
  return { role, content, ...stamp(at) }
}

function answerOf({ calls, request }: Step, thought: NonNullable<Step['thought']>): object {
  const { content, reasoning, at } = thought
  const toolCalls = calls.map(({ actionId, name, argumentsText }) => {
    return { id: actionId, function: { name, arguments: argumentsText } }
  })
  return {
    role: 'assistant',
    content,
    ...(reasoning !== undefined && { reasoningContent: reasoning }),
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(request && { model: request.model }),
    ...stamp(at),
  }
}

function resultOf({ actionId, observation, override, endedAt }: StepCall): object {
  return { role: 'tool', toolCallId: actionId, content: override ?? observation, ...stamp(endedAt) }
}

function stamp(at: Date | undefined): { timestamp?: number } {
  const time = timeIn(at)
  return time ? { timestamp: time.getTime() } : {}
}
